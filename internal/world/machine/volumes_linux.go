package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// mountVolumes shows volumes to the calling thread, whose mount namespace is a copy of
// its machine's. A volume that lies below another comes after it.
func mountVolumes(volumes []Volume) error {
	sorted := slices.Clone(volumes)
	slices.SortStableFunc(sorted, func(a, b Volume) int {
		return strings.Count(path.Clean(a.Path), "/") - strings.Count(path.Clean(b.Path), "/")
	})
	var shown []string
	for _, v := range sorted {
		target, err := mountVolume(v, shown)
		if err != nil {
			return fmt.Errorf("mount %s on %s: %w", v.Source, v.Path, err)
		}
		shown = append(shown, target)
	}
	return nil
}

// mountVolume returns where the volume is, without symlinks on the way.
func mountVolume(v Volume, shown []string) (string, error) {
	var source unix.Stat_t
	if err := unix.Stat(v.Source, &source); err != nil {
		return "", err
	}
	target, err := point(path.Clean(v.Path), source.Mode&unix.S_IFMT == unix.S_IFDIR, shown)
	if err != nil {
		return "", err
	}
	if err := bindTree(v.Source, target); err != nil {
		return "", err
	}
	if v.Private {
		if err := propagate(target, unix.MS_PRIVATE|unix.MS_REC); err != nil {
			return "", err
		}
	}
	if v.ReadOnly {
		return target, unix.MountSetattr(unix.AT_FDCWD, target, 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
	}
	return target, nil
}

// point makes what a volume can be mounted on, if it is not there.
func point(target string, isDir bool, shown []string) (string, error) {
	above, missing := target, ""
	for {
		real, err := filepath.EvalSymlinks(above)
		if err == nil {
			above = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		missing = path.Join(path.Base(above), missing)
		above = path.Dir(above)
	}
	target = path.Join(above, missing)
	if missing == "" {
		return target, nil
	}
	if own, err := isOwnDir(above, shown); err != nil {
		return "", err
	} else if !own {
		if err := reopen(above); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(path.Dir(target), 0o755); err != nil {
		return "", err
	}
	return target, makePoint(target, isDir)
}

// isOwnDir reports whether what is made in a directory stays in the machine: it lies in the
// file system of the machine's root, in its kubelet's directory, or in a volume.
func isOwnDir(dir string, shown []string) (bool, error) {
	for _, own := range append([]string{KubeletDir}, shown...) {
		if _, below := cutDir(dir, own); below {
			return true, nil
		}
	}
	var root, its unix.Stat_t
	if err := errors.Join(unix.Stat("/", &root), unix.Stat(dir, &its)); err != nil {
		return false, err
	}
	return root.Dev == its.Dev, nil
}

// reopen replaces one of the host's directories, for the calling thread's namespace, by a
// file system in memory that shows all that is in it.
func reopen(dir string) error {
	before, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(before)
	source := fmt.Sprintf("/proc/self/fd/%d", before)
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	if err := mountError(dir, unix.Mount("csisim", dir, "tmpfs", 0, "mode=755")); err != nil {
		return err
	}
	for _, e := range entries {
		if err := show(path.Join(source, e.Name()), path.Join(dir, e.Name()), e.Type()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err // unless it vanished meanwhile
		}
	}
	return nil
}
