package scenario

import (
	"cmp"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
)

// volumeFileFields select a file in a volume.
type volumeFileFields struct {
	Pod       string `json:"pod" want:"required" example:"web" doc:"The pod that has the volume; it must be mounted."`
	Namespace string `json:"namespace,omitempty" default:"default" doc:"The pod's namespace."`
	Volume    string `json:"volume" want:"required" example:"data" doc:"The volume's name in the pod."`
	File      string `json:"file" want:"required" example:"report" doc:"The name of a file in the root of the volume."`
}

func (f *volumeFileFields) pod() store.Key {
	return store.Key{Namespace: cmp.Or(f.Namespace, corev1.NamespaceDefault), Name: f.Pod}
}

func (f *volumeFileFields) check(c *checker) {
	if f.Pod != "" && !c.made.isGenerated("pods", f.pod()) {
		c.madeBefore("pod", "pods", f.pod())
	}
	if f.File == "." || f.File == ".." || strings.Contains(f.File, "/") {
		c.report("file", fmt.Sprintf("%q", f.File), "the name of a file in the root of the volume, without a directory")
	}
}

// permissions are the permissions of a file. In scenarios, they are an octal number as a text:
// "0640".
type permissions fs.FileMode

// Wanted describes the valid texts.
func (permissions) Wanted() string { return `permissions as an octal number in quotes, such as "0640"` }

// UnmarshalStrict reads the text. A bare number is rejected, since YAML has several ways to read
// 0640.
func (p *permissions) UnmarshalStrict(n *strict.Node) {
	text, _ := n.Text()
	mode, err := strconv.ParseUint(text, 8, 32)
	if err != nil || mode > uint64(fs.ModePerm) {
		n.ReportWrong(p.Wanted())
		return
	}
	*p = permissions(mode)
}

// JSONSchema is the text.
func (permissions) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "pattern": "^0?[0-7]{1,3}$"}
}

func (p permissions) String() string { return fmt.Sprintf("%04o", uint32(p)) }
