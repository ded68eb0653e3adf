package csi

import (
	"errors"
	"io/fs"
	"path"

	"k8s.io/apimachinery/pkg/types"
)

// AnyMounted reports whether a CSI volume of the pod is still a mount point. K-POD-6, K-ORPH-1
func (pl *Plugin) AnyMounted(pod types.UID) bool {
	for _, name := range pl.list(path.Join(pl.PodDir(pod), "volumes", EscapedName)) {
		if mounted, err := pl.machine.IsMountPoint(pl.TargetPath(pod, name)); err == nil && mounted {
			return true
		}
	}
	return false
}

// PodsOnDisk returns the pods that have a directory on the node.
func (pl *Plugin) PodsOnDisk() []types.UID {
	var pods []types.UID
	for _, name := range pl.list(pl.PodsDir()) {
		pods = append(pods, types.UID(name))
	}
	return pods
}

// RemovePodDir removes the directory of a deleted pod. Below volumes it removes only empty
// directories. A leftover data file therefore keeps the pod's directory permanently. K-ORPH-2
func (pl *Plugin) RemovePodDir(pod types.UID) {
	if pl.removeEmpty(path.Join(pl.PodDir(pod), "volumes")) {
		_ = pl.machine.RemoveAll(pl.PodDir(pod))
	}
}

// removeEmpty removes the empty directories of a tree as far as possible, and reports whether it
// has removed the whole tree.
func (pl *Plugin) removeEmpty(dir string) bool {
	entries, err := pl.machine.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	empty := true
	for _, e := range entries {
		empty = e.IsDir() && pl.removeEmpty(path.Join(dir, e.Name())) && empty
	}
	return empty && pl.machine.Remove(dir) == nil
}
