package profile

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/driver/profiles"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/input/strict"
)

// UnknownError is the error for a name without a built-in profile.
type UnknownError struct{ Name string }

func (e *UnknownError) Error() string {
	if nearest := strict.Nearest(e.Name, Names()); nearest != "" {
		return fmt.Sprintf("unknown driver profile %q; did you mean %q? (csisim profiles lists all; a YAML file is possible, too)", e.Name, nearest)
	}
	return fmt.Sprintf("unknown driver profile %q: give one of %s, or a YAML file", e.Name, strings.Join(Names(), ", "))
}

// Names returns the built-in profiles, sorted.
func Names() []string {
	files, err := fs.Glob(profiles.Files, "*.yaml")
	if err != nil {
		panic(err) // the pattern is right
	}
	for i, file := range files {
		files[i] = nameOf(file)
	}
	return files
}

// IsFile distinguishes the name of a file from that of a built-in profile.
func IsFile(name string) bool {
	return strings.ContainsRune(name, '/') || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(name))
}

// Load reads a built-in profile or, if the name looks like the name of a file, a file relative to
// dir. The error is an *UnknownError, an error of reading the file, or strict.Problems with all
// mistakes in the file.
func Load(name, dir string) (*Profile, error) {
	if IsFile(name) {
		file := name
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		data, err := strict.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("read driver profile: %w", err)
		}
		return Parse(file, data)
	}
	if !slices.Contains(Names(), name) {
		return nil, &UnknownError{name}
	}
	data, err := profiles.Files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("read driver profile: %w", err)
	}
	return Parse("profiles/"+name+".yaml", data)
}

// Parse is Load for text that has been read.
func Parse(file string, data []byte) (*Profile, error) {
	p := &Profile{File: file, Name: nameOf(file)}
	document, problems := strict.Decode(file, data, p)
	if document == nil {
		return nil, problems
	}
	p.check(document)
	if len(p.VolumeModes) == 0 {
		p.VolumeModes = []string{"Filesystem"}
	}
	if len(p.AccessModes) == 0 {
		p.AccessModes = []string{"ReadWriteOnce"}
	}
	if err := document.Problems().Err(); err != nil {
		return nil, err
	}
	return p, nil
}

func nameOf(file string) string {
	base := filepath.Base(file)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func (p *Profile) check(d *strict.Document) {
	if p.Driver != "" && len(validation.IsDNS1123Subdomain(strings.ToLower(p.Driver))) > 0 {
		d.Report("driver", fmt.Sprintf("name %q", p.Driver), `a CSI driver's name, such as "nfs.csi.k8s.io"`)
	}
	for field, arguments := range map[string][]string{"arguments": p.Arguments, "controllerArguments": p.ControllerArguments} {
		for i, argument := range arguments {
			checkTemplate(d, strict.Index(field, i), argument)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		checkTemplate(d, strict.Key("env", name), p.Env[name])
	}
	if !IsSocket(p.PluginSocket) {
		d.Report("pluginSocket", fmt.Sprintf("path %q", p.PluginSocket), WantedSocket)
	}
	if !IsSocket(p.AddonsSocket) {
		d.Report("addonsSocket", fmt.Sprintf("path %q", p.AddonsSocket), WantedSocket)
	}
	for i, dir := range p.NodePaths {
		if !IsNodePath(dir) {
			d.Report(strict.Index("nodePaths", i), fmt.Sprintf("path %q", dir), WantedNodePath)
		}
	}
	p.StandIns.Check(d, "standIns")
}

// WantedNodePath describes a directory of the node that a driver's container mounts.
const WantedNodePath = `a directory of the node, such as "/var/lib/my-driver"`

// IsNodePath reports whether a driver's container can mount a directory of the node.
func IsNodePath(dir string) bool {
	return path.IsAbs(dir) && path.Clean(dir) == dir && dir != "/"
}

// WantedSocket describes the socket of a program that ignores the socket in its flags.
const WantedSocket = `a socket in a directory of its own, such as "/run/my-driver/csi.sock"`

// IsSocket reports whether a path is valid for a socket that the program chooses itself. The
// directory of the path becomes the directory of the driver's socket. The empty path is valid.
func IsSocket(file string) bool {
	return file == "" || path.IsAbs(file) && path.Clean(file) == file && strings.Count(file, "/") > 1 &&
		!slices.Contains([]string{"/tmp", "/var", "/usr", "/etc", "/run", "/dev", "/bin", "/lib"}, path.Dir(file))
}

func checkTemplate(d *strict.Document, path, text string) {
	parsed, err := template.New("argument").Parse(text)
	if err == nil {
		err = parsed.Execute(io.Discard, program.Fields{})
	}
	if err != nil {
		d.Report(path, fmt.Sprintf("template %q", text),
			"a template with .Endpoint, .Socket, .NodeID, .NodeName, .StateDir, .NodeStateDir, .KubeletDir, .Driver, .Mode, .AddonsEndpoint, .AddonsSocket or .ServiceURL")
	}
}
