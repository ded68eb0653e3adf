package scenario

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// KubeletDir is the directory of the kubelets. A file has its path, or KubeletPaths.
type KubeletDir KubeletPaths

// KubeletPaths are the paths to the directory of the kubelets.
type KubeletPaths struct {
	Path        string `json:"path,omitempty" example:"/mnt/kubelet" doc:"The kubelet's flag --root-dir: the paths of calls begin with it; default /var/lib/kubelet."`
	SymlinkTo   string `json:"symlinkTo,omitempty" example:"/mnt/kubelet" doc:"The directory to which path is a symlink; mount tables have this path. Default: path is no symlink."`
	SymlinkFrom string `json:"symlinkFrom,omitempty" example:"/var/lib/kubelet" doc:"A symlink to path, which the kubelet does not use; default none."`
}

// Wanted describes both forms.
func (KubeletDir) Wanted() string {
	return "a path such as /var/lib/k0s/kubelet, or path with symlinkTo or symlinkFrom"
}

// UnmarshalStrict reads either form.
func (d *KubeletDir) UnmarshalStrict(n *strict.Node) {
	switch {
	case n.IsList() || n.IsNull():
		n.ReportWrong(d.Wanted())
	case n.IsMap():
		n.Decode((*KubeletPaths)(d))
	default:
		n.Decode(&d.Path)
	}
	if found, want := d.Layout().Mistake(); found != "" {
		n.Report(found, want)
	}
}

// JSONSchema allows both forms.
func (KubeletDir) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string"},
		map[string]any{"$ref": reflect.TypeFor[KubeletPaths]()},
	}}
}

// Layout returns the directory for the simulator.
func (d KubeletDir) Layout() sim.KubeletDir {
	return sim.KubeletDir{Dir: d.Path, SymlinkTo: d.SymlinkTo, SymlinkFrom: d.SymlinkFrom}
}

// ParseKubeletDir reads a path or, in braces, the paths of a scenario's kubeletDir.
func ParseKubeletDir(text string) (KubeletDir, error) {
	var all struct {
		KubeletDir KubeletDir `json:"kubeletDir"`
	}
	_, problems := strict.Decode("", []byte("kubeletDir: "+text), &all)
	for _, p := range problems {
		return all.KubeletDir, fmt.Errorf("found %s, want %s", p.Found, p.Want)
	}
	return all.KubeletDir, nil
}

// YAML returns the directory as the value of kubeletDir in flow style; empty for the default.
func (d KubeletDir) YAML() string {
	quoted := func(name, path string) string {
		if path == "" {
			return ""
		}
		return name + strconv.Quote(path)
	}
	if d.SymlinkTo == "" && d.SymlinkFrom == "" {
		return quoted("", d.Path)
	}
	fields := []string{quoted("path: ", d.Path), quoted("symlinkTo: ", d.SymlinkTo), quoted("symlinkFrom: ", d.SymlinkFrom)}
	return "{" + strings.Join(slices.DeleteFunc(fields, func(f string) bool { return f == "" }), ", ") + "}"
}
