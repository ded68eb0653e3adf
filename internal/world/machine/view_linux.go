package machine

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// keptView is a separate mount of the file system that a volume had.
type keptView struct {
	root   *os.File
	device string // of the file system, as in Mount
}

// KeepView keeps the mount at path in the state in which a container that starts now sees it.
func (d *Disk) KeepView(p string) error {
	if err := d.closeView(p); err != nil {
		return err
	}
	mounts, err := d.mountsAt(p)
	if err != nil || len(mounts) == 0 {
		return err
	}
	top := mounts[len(mounts)-1]
	if !strings.HasPrefix(top.FSType, "fuse") {
		return nil
	}
	return d.look(func() error {
		root, err := mountCopy(d.within(p))
		if err != nil {
			return err
		}
		if d.views == nil {
			d.views = map[string]keptView{}
		}
		d.views[p] = keptView{root: root, device: top.Device}
		return nil
	})
}

// mountCopy returns a detached copy of a mount. Later mounts on the mount do not appear in the
// copy.
func mountCopy(target string) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, target, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return nil, mountError(target, err)
	}
	root := os.NewFile(uintptr(fd), target)
	if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Propagation: unix.MS_PRIVATE}); err != nil {
		return nil, errors.Join(mountError(target, err), root.Close())
	}
	return root, nil
}

// ViewOf describes the mount that is kept at path.
func (d *Disk) ViewOf(p string) (View, error) {
	kept, is := d.views[p]
	if !is {
		return View{}, nil
	}
	mounts, err := d.mountsAt(p)
	if err != nil {
		return View{}, err
	}
	at := slices.IndexFunc(mounts, func(m Mount) bool { return m.Device == kept.device })
	if at >= 0 && at == len(mounts)-1 {
		return View{}, nil
	}
	var stat unix.Statx_t
	err = unix.Statx(int(kept.root.Fd()), "", unix.AT_EMPTY_PATH|unix.AT_STATX_FORCE_SYNC, unix.STATX_BASIC_STATS, &stat)
	return View{Err: err, Covered: at >= 0}, nil
}

// CloseViews drops the mounts that are kept below a directory.
func (d *Disk) CloseViews(dir string) error {
	var failed []error
	for p := range d.views { // any order: each is closed
		if isWithin(p, dir) {
			failed = append(failed, d.closeView(p))
		}
	}
	return errors.Join(failed...)
}

func (d *Disk) closeView(p string) error {
	kept, is := d.views[p]
	if !is {
		return nil
	}
	delete(d.views, p)
	return kept.root.Close()
}
