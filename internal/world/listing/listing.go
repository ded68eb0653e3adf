// Package listing lists the files of a node's kubelet directory, in the form of the recorded
// traces: directories with their modes, sockets, devices, links, mounts, and the content of volume
// data files.
package listing

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
)

// Tops are the listed directories below the kubelet's directory.
var Tops = []string{"plugins", "plugins_registry", "pods"}

// Entry is the file at a path.
type Entry struct {
	Name    string // below the kubelet's directory
	Mode    fs.FileMode
	Mount   *machine.Mount // nil if nothing is mounted there
	Link    string         // the target of a link
	Content string         // of a volume data file
}

// IsVolumeData reports whether a file's content is listed.
func IsVolumeData(name string) bool { return path.Base(name) == "vol_data.json" }

func (e Entry) String() string {
	switch mount := e.mount(); {
	case e.Mode&fs.ModeSetgid != 0 && e.Mode.IsDir():
		return fmt.Sprintf("%s/%s %o setgid", e.Name, mount, e.Mode.Perm())
	case e.Mode.IsDir():
		return fmt.Sprintf("%s/%s %o", e.Name, mount, e.Mode.Perm())
	case e.Mode&fs.ModeSocket != 0:
		return e.Name + " (socket)"
	case e.Mode&fs.ModeDevice != 0:
		return e.Name + " (device)" + mount
	case e.Mode&fs.ModeSymlink != 0:
		return e.Name + " -> " + e.Link
	case IsVolumeData(e.Name):
		return e.Name + " = " + strings.TrimSpace(e.Content)
	default:
		return e.Name + mount
	}
}

func (e Entry) mount() string {
	if e.Mount == nil {
		return ""
	}
	return fmt.Sprintf(" [mount %s %s src=%s]", e.Mount.FSType, strings.Join(e.Mount.Options, ","), e.Mount.Root)
}
