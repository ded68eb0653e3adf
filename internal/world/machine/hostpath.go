package machine

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// places are the directories where drivers and kubelets of a real node keep their sockets and
// state. They are the machine's own.
var places = []string{
	KubeletDir, "/csi", "/csi-data-dir", "/registration", "/run/csi", "/var/lib/csi", "/var/lib/csi-*",
}

// places returns the places of a machine with the layout.
func (l Layout) places() []string {
	if l == (Layout{}) {
		return places
	}
	all := append(slices.Clone(places), l.real())
	if l.HasSymlink() {
		all = append(all, l.symlink())
	}
	return all
}

func (l Layout) isPlace(name string) bool {
	return slices.ContainsFunc(l.places(), func(pattern string) bool {
		fits, err := path.Match(pattern, name)
		return fits && err == nil
	})
}

// inPlace reports whether a path is in one of the places.
func (l Layout) inPlace(name string) bool {
	for ; name != "/" && name != "."; name = path.Dir(name) {
		if l.isPlace(name) {
			return true
		}
	}
	return false
}

// isAbove reports whether a directory contains the kubelet's directory or a symlink to it.
func (l Layout) isAbove(dir string) bool {
	return isWithin(l.real(), dir) || isWithin(l.symlink(), dir)
}

// HostPath checks a host directory to which programs may write, and returns it as an absolute path
// without symlinks. It fails if the path is not a directory, or if it contains or is in one of the
// machine's places.
func (l Layout) HostPath(name string) (string, error) {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		var missing *os.PathError
		if errors.As(err, &missing) {
			err = missing.Err
		}
		return "", fmt.Errorf("host path %s: %w", name, err)
	}
	switch info, err := os.Stat(real); {
	case err != nil:
		return "", fmt.Errorf("host path %s: %w", name, err)
	case !info.IsDir():
		return "", fmt.Errorf("host path %s is not a directory", name)
	case real == "/":
		return "", fmt.Errorf("host path %s is all there is: name the directories that the programs write in", name)
	case l.inPlace(real):
		return "", fmt.Errorf("host path %s: each node has a directory of its own there", name)
	}
	for _, place := range l.places() {
		if strings.HasPrefix(place, real+"/") {
			return "", fmt.Errorf("host path %s: each node has a directory of its own in it, %s: name the directories that the programs write in", name, place)
		}
	}
	return real, nil
}
