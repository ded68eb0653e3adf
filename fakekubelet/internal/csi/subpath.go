package csi

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// subPathDir returns the directory in which the subpaths of a pod's volume are bind-mounted,
// container by container. Fact 71
func (d Dir) subPathDir(pod types.UID, specName string) string {
	return path.Join(d.PodDir(pod), "volume-subpaths", escaped(specName))
}

// SubPath is a part of a volume that a container mounts.
type SubPath struct {
	Pod       types.UID
	Spec      *Spec
	Container string
	Index     int // in the container's volumeMounts
	Path      string
}

// ErrSubPathNotMade is the error for a missing directory that cannot be created, for instance in a
// read-only volume.
var ErrSubPathNotMade = errors.New("make the directory of a subpath")

// BindSubPath creates the directory if it is missing. It bind-mounts the directory at a place that
// only the kubelet can change. It has no effect on the driver and the volume. Fact 71
func (pl *Plugin) BindSubPath(p *kernel.Process, s SubPath) (host string, err error) {
	f, root := pl.files(p), pl.TargetPath(s.Pod, s.Spec.Name)
	source := path.Join(root, s.Path)
	if err := f.makeBelow(root, source); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSubPathNotMade, err)
	}
	if source, err = pl.inside(root, source); err != nil {
		return "", err
	}
	host = path.Join(pl.subPathDir(s.Pod, s.Spec.Name), s.Container, strconv.Itoa(s.Index))
	bound, err := f.boundBefore(source, host)
	if err != nil || bound {
		return host, err
	}
	if err := f.mountPoint(source, host); err != nil {
		return "", err
	}
	return host, f.change("bind mount", host, func(m machine.Machine) error { return m.BindMount(source, host, false) })
}

// boundBefore reports whether source is bound at host already, by an earlier start of the
// container. If another directory is mounted there, because the directory was replaced since, it is
// unmounted. K-POD-12
func (f files) boundBefore(source, host string) (bool, error) {
	if mounted, err := f.machine.IsMountPoint(host); err != nil || !mounted {
		return false, nil
	}
	is, err := f.machine.Lstat(source)
	if err != nil {
		return false, err
	}
	bound, err := f.machine.Lstat(host)
	if err != nil || machine.SameFile(is, bound) {
		return err == nil, err
	}
	return false, f.change("unmount", host, func(m machine.Machine) error { return m.Unmount(host) })
}

// inside resolves symbolic links, and refuses paths that lead out of the volume.
func (pl *Plugin) inside(root, name string) (string, error) {
	real, err := pl.machine.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	if real != root && !strings.HasPrefix(real, root+"/") {
		return "", fmt.Errorf("path %s is not within volume path %s", real, root)
	}
	return real, nil
}

// makeBelow makes a missing directory with the mode of the volume's root.
func (f files) makeBelow(root, name string) error {
	if _, err := f.machine.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	info, err := f.machine.Lstat(root)
	if err != nil {
		return err
	}
	return f.change("mkdir", name, func(m machine.Machine) error { return m.MkdirAll(name, info.Mode().Perm()) })
}

// mountPoint creates a directory or a file as the target of a bind mount.
func (f files) mountPoint(source, target string) error {
	info, err := f.machine.Lstat(source)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return f.mkdir(target)
	}
	if err := f.mkdir(path.Dir(target)); err != nil {
		return err
	}
	if _, err := f.machine.Lstat(target); err == nil {
		return nil
	}
	return f.write(target, nil)
}

// cleanSubPaths unmounts the bind mounts for the containers of a pod, and removes their
// directories. K-UNPUB-2
func (f files) cleanSubPaths(pod types.UID, specName string) error {
	top := f.subPathDir(pod, specName)
	for _, container := range f.list(top) {
		dir := path.Join(top, container)
		for _, index := range f.list(dir) {
			if err := f.unbind(path.Join(dir, index)); err != nil {
				return err
			}
		}
		if err := f.remove(dir); err != nil {
			return err
		}
	}
	if err := f.remove(top); err != nil {
		return err
	}
	if all := path.Dir(top); len(f.list(all)) == 0 {
		return f.remove(all)
	}
	return nil
}

func (f files) unbind(name string) error {
	if mounted, err := f.machine.IsMountPoint(name); err == nil && mounted {
		if err := f.change("unmount", name, func(m machine.Machine) error { return m.Unmount(name) }); err != nil {
			return err
		}
	}
	return f.remove(name)
}
