package machine

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// FirstPrograms returns the programs that can be process 1.
func FirstPrograms() []string { return firstPrograms() }

// SetFirstProgram makes one of these programs process 1 of all machines of a test.
func SetFirstProgram(t *testing.T, path string) {
	before := firstPrograms
	firstPrograms = func() []string { return []string{path} }
	t.Cleanup(func() { firstPrograms = before })
}

// WithoutLayers simulates a kernel without overlayfs, until restore is called.
func WithoutLayers() (restore func()) {
	layerType = "no-such-type"
	return func() { layerType = "overlay" }
}

// CanLimit reports whether programs can have limits.
func CanLimit() bool {
	g := newControlGroup(Limits{Processes: 1})
	if g == nil {
		return false
	}
	g.remove()
	return true
}

// OwnGroups returns the prefix of the names of this process's control groups.
func OwnGroups() string { return ownGroups() }

// AttachDeleted carries a file into a container after the host has deleted it.
func AttachDeleted(name string) error {
	open, err := os.OpenFile(name, unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer open.Close()
	tree, err := treeCopy(open)
	if err != nil {
		return err
	}
	defer tree.Close()
	if err := os.Remove(name); err != nil {
		return err
	}
	return carried{at: name, tree: tree}.attach()
}
