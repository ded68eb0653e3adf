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

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// carried is a part of the machine's tree that a container also has.
type carried struct {
	at   string
	tree *os.File // a copy of the mounts there
}

// contain prepares the root of a program, and returns a function by which the program's thread
// joins it. The machine's own root is used until programs have written there.
func (d *Disk) contain(p *Process, c Command) (join func() error, err error) {
	if err := d.share(d.sharedBy(c.Volumes)); err != nil {
		return nil, err
	}
	if c.Container == nil {
		return func() error { return d.own.join(c) }, nil
	}
	keeps, err := d.makeKept(c.Container)
	if err != nil {
		return nil, err
	}
	kept := d.own.keeps(keeps)
	written, dirty, err := d.own.layers.wroteBut(kept)
	if err != nil {
		return nil, fmt.Errorf("look for files of earlier containers: %w", err)
	}
	if before := c.Container.Before; before != nil {
		its, err := before.root.empty(kept)
		if err != nil {
			return nil, fmt.Errorf("look for files of the container before: %w", err)
		}
		p.lost = newLostFiles(slices.Concat(written, before.lost.all(), its))
	}
	if !dirty {
		return func() error { return d.own.join(c) }, nil
	}
	trees, err := d.carry(keeps)
	if err != nil {
		return nil, err
	}
	p.root = &ownRoot{dir: d.own.dir, layout: d.layout, through: d.own.through, holds: true}
	return func() error {
		defer closeTrees(trees)
		return p.root.joinContainer(c, d.own, trees)
	}, nil
}

// makeKept makes the directories in Keeps, and returns their paths without symlinks.
func (d *Disk) makeKept(c *Container) (dirs []string, err error) {
	for _, dir := range c.Keeps {
		if err := d.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		real, err := d.EvalSymlinks(dir)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, real)
	}
	d.mu.Lock()
	for _, dir := range dirs { // each instance of a container has the same directories
		if !slices.Contains(d.nodePaths, dir) {
			d.nodePaths = append(d.nodePaths, dir)
		}
	}
	d.mu.Unlock()
	return dirs, d.share(c.Shares)
}

// sharedBy returns the sources of volumes that are mounts of the node. The kubelet's directory
// already is such a mount.
func (d *Disk) sharedBy(volumes []Volume) (dirs []string) {
	for _, v := range volumes {
		if _, inKubelets := d.layout.Below(v.Source); v.Shared && !inKubelets {
			dirs = append(dirs, v.Source)
		}
	}
	return dirs
}

// share makes directories of the machine mount points that containers share with it.
func (d *Disk) share(dirs []string) error {
	for _, dir := range dirs {
		err := d.do(func() error {
			var stat unix.Statx_t
			if err := unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_TYPE, &stat); err != nil {
				return &fs.PathError{Op: "stat", Path: dir, Err: err}
			}
			if stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT == 0 {
				if err := bindTree(dir, dir); err != nil {
					return err
				}
			}
			return propagate(dir, unix.MS_SHARED)
		})
		if err != nil {
			return err
		}
		table, err := d.mountTable()
		if err != nil {
			return err
		}
		for _, m := range table { // it is not a mount of a driver
			if m.Mountpoint == dir && d.own.base[m.ID] == "" {
				d.own.base[m.ID] = dir
				break
			}
		}
	}
	return nil
}

// keeps returns a function that reports whether a path outlives containers.
func (r *ownRoot) keeps(further []string) func(name string) bool {
	return func(name string) bool {
		within := func(dir string) bool { _, is := cutDir(name, dir); return is }
		return within(r.layout.real()) || slices.ContainsFunc(bookkeeping, within) || slices.ContainsFunc(further, within) ||
			slices.ContainsFunc(r.furnished, within)
	}
}

// empty removes the files of a finished container, and returns their names. It does nothing for a
// nil root.
func (r *ownRoot) empty(kept func(name string) bool) (written []string, err error) {
	if r == nil || r.layers == nil {
		return nil, nil
	}
	if written, _, err = r.layers.wroteBut(kept); err != nil {
		return nil, err
	}
	changes, err := r.layers.written()
	if err != nil {
		return nil, err
	}
	r.wrote = changes
	for _, t := range r.layers.uppers() { // no mount is below them
		entries, err := os.ReadDir(t.real)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if err := os.RemoveAll(path.Join(t.real, e.Name())); err != nil {
				return nil, err
			}
		}
	}
	return written, nil
}

// furnish records the files that were created before the first program, because containers contain
// them, too.
func (r *ownRoot) furnish() error {
	r.furnished = nil
	made, _, err := r.layers.wroteBut(r.keeps(nil))
	for _, name := range made {
		r.furnished = append(r.furnished, strings.TrimSuffix(name, "/"))
	}
	return err
}

// carry copies the mounts of the machine that a container shares: all except the layers and the
// places. It adds the directories in keeps.
func (d *Disk) carry(keeps []string) (trees []carried, err error) {
	table, err := d.mountTable()
	if err != nil {
		return nil, err
	}
	points := slices.Concat(d.own.carriedPoints(table), keeps, d.own.furnished)
	slices.Sort(points)
	for _, at := range points {
		if !slices.ContainsFunc(trees, func(t carried) bool { _, below := cutDir(at, t.at); return below }) {
			trees = append(trees, carried{at: at})
		}
	}
	err = d.do(func() error {
		for i := range trees {
			open, err := os.OpenFile(trees[i].at, unix.O_PATH|unix.O_NOFOLLOW, 0)
			if err != nil {
				return err
			}
			trees[i].tree, err = treeCopy(open)
			if err := errors.Join(err, open.Close()); err != nil {
				return fmt.Errorf("copy the mounts at %s: %w", trees[i].at, err)
			}
		}
		return nil
	})
	if err != nil {
		closeTrees(trees)
	}
	return trees, err
}

// carriedPoints returns the mount points of the machine, except for the mount points of layers that
// protect the host.
func (r *ownRoot) carriedPoints(table []*mountinfo.Info) (points []string) {
	own := map[string]bool{"/": true} // mounted twice: as the directory and as its layer
	for _, dir := range slices.Concat(r.layers.covered, r.layers.hiddenPlaces) {
		own[dir] = dir != r.layout.real()
	}
	for _, m := range table {
		switch {
		case r.base[m.ID] == "":
		case own[m.Mountpoint]:
			own[m.Mountpoint] = m.Mountpoint == "/"
		default:
			points = append(points, m.Mountpoint)
		}
	}
	return points
}

// joinContainer gives the calling OS thread the root in a separate mount namespace, with a
// command's volumes and some trees of the machine's root.
func (r *ownRoot) joinContainer(c Command, of *ownRoot, trees []carried) error {
	if err := of.nameHost(c.Hostname); err != nil {
		return err
	}
	if err := of.enterIPC(c.IPC); err != nil {
		return err
	}
	if c.Network != nil {
		if err := c.Network.enter(); err != nil {
			return err
		}
	}
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS); err != nil {
		return fmt.Errorf("make the mount namespace of a container: %w", err)
	}
	if err := propagate("/", unix.MS_REC|unix.MS_PRIVATE); err != nil {
		return err
	}
	for _, t := range trees {
		r.carried = append(r.carried, t.at)
	}
	if err := r.fill(); err != nil {
		return fmt.Errorf("build the root directory of a container: %w", err)
	}
	if err := r.pivot(); err != nil {
		return err
	}
	for _, t := range trees { // symlinks on the way are resolved in the root from now on
		if err := t.attach(); err != nil {
			return fmt.Errorf("show the machine's %s in a container: %w", t.at, err)
		}
	}
	if first := of.layers.first.Load(); first != nil {
		if err := first.adopt(); err != nil {
			return err
		}
	}
	return mountVolumes(c.Volumes, r.layout, c.OwnKubeletDir)
}

// attach mounts the copy in the calling thread's root.
func (t carried) attach() error {
	info, err := t.tree.Stat()
	if err != nil {
		return err
	}
	if t.isDeleted() {
		return nil
	}
	if _, err := os.Lstat(t.at); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(path.Dir(t.at), 0o755); err != nil {
			return err
		}
		if err := makePoint(t.at, info.IsDir()); err != nil {
			return err
		}
	}
	err = moveTree(t.tree, t.at)
	if errors.Is(err, unix.ENOENT) && t.isDeleted() {
		return nil
	}
	return err
}

// isDeleted reports whether the file at the root of the tree has been deleted. Such a tree cannot
// be mounted. The host deletes temporary files at any time.
func (t carried) isDeleted() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(t.tree.Fd()), &stat) == nil && stat.Nlink == 0
}

func closeTrees(trees []carried) {
	for _, t := range trees {
		if t.tree != nil {
			_ = t.tree.Close() // the mount stays
		}
	}
}

// wroteBut lists the files and directories that programs have created or changed in the layers and
// places, except those that are kept. It also reports whether anything changed, including removals.
func (l *layers) wroteBut(kept func(name string) bool) (written []string, dirty bool, err error) {
	for _, tree := range l.trees() {
		err := filepath.WalkDir(tree.real, func(p string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // removed meanwhile
			case errors.Is(err, fs.ErrPermission) && tree.opened:
				return nil // a whiteout: another user has removed a directory of the host
			case err != nil:
				return err
			case p == tree.real:
				return nil
			case tree.opened && filepath.Dir(p) == tree.real && exists(path.Join(tree.at, e.Name())):
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil // the host's
			}
			name := path.Join(tree.at, strings.TrimPrefix(p, tree.real))
			switch {
			case kept(name) && e.IsDir():
				return fs.SkipDir
			case kept(name) || l.layout.isPlace(name) || l.leads(name) && e.IsDir():
				return nil
			}
			if e.IsDir() && isDir(name) {
				return nil // a copied-up directory, for a file below it
			}
			dirty = true
			if len(written) < mostWritten && !isWhiteout(e) {
				written = append(written, marked(name, e))
			}
			return nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	return written, dirty, nil
}

// mostWritten bounds how many lost files of a container are remembered.
const mostWritten = 1000

// tree is a directory with files that programs wrote, and the directory's path in their root.
type tree struct {
	real, at string
	opened   bool // other mounts in it show the host's entries
}

// trees returns the upper directories of the layers, the places that hide the host's, and the
// machine's own directories with the host's entries.
func (l *layers) trees() (trees []tree) {
	trees = l.uppers()
	top := fmt.Sprintf("/proc/self/fd/%d", l.top.Fd())
	for i, place := range l.hiddenPlaces {
		real := top + place
		if l.hiders != nil {
			real = fmt.Sprintf("/proc/self/fd/%d", l.hiders[i].Fd())
		}
		if place != l.layout.real() {
			trees = append(trees, tree{real, place, false})
		}
	}
	for _, dir := range l.opened {
		trees = append(trees, tree{strings.TrimSuffix(top+dir, "/"), dir, true})
	}
	return trees
}

// uppers returns the upper directories of the layers.
func (l *layers) uppers() (trees []tree) {
	for i, dir := range l.covered {
		trees = append(trees, tree{fmt.Sprintf("/proc/self/fd/%d/%d/upper", l.upper.Fd(), i), dir, false})
	}
	return trees
}

// leads reports whether a directory is an ancestor of a place or of a shared host directory.
func (l *layers) leads(name string) bool {
	to := func(dir string) bool { return strings.HasPrefix(dir, name+"/") }
	return slices.ContainsFunc(l.layout.places(), to) || slices.ContainsFunc(l.through, to) || slices.ContainsFunc(kept, func(dir string) bool { return dir == name || to(dir) })
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

func isDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}
