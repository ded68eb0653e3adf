package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// BindMount shows source at target. It needs root.
func (d *Disk) BindMount(source, target string, readOnly bool) error {
	err := d.do(func() error { return bind(d.within(source), d.within(target), readOnly) })
	if err == nil {
		return nil
	}
	op := "bind mount " + source + " on"
	return needsRoot(op+" "+target, &fs.PathError{Op: op, Path: target, Err: err})
}

func bind(source, target string, readOnly bool) error {
	if !readOnly {
		return unix.Mount(source, target, "", unix.MS_BIND, "")
	}
	// Make the copy read-only before mounting it. A later change would affect only this mount
	// namespace, not the namespaces to which the mount propagates.
	tree, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("clone the mount: %w", err)
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make it read-only: %w", err)
	}
	return unix.MoveMount(tree, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// Unmount removes the topmost mount at target.
func (d *Disk) Unmount(target string) error {
	err := d.do(func() error { return unix.Unmount(d.within(target), 0) })
	if err == nil {
		return nil
	}
	return needsRoot("unmount "+target, &fs.PathError{Op: "unmount", Path: target, Err: err})
}

// IsMountPoint reports whether there is a mount at path.
func (d *Disk) IsMountPoint(p string) (is bool, err error) {
	err = d.look(func() error {
		// Unlike a comparison of device numbers, the kernel's answer is also exact for bind mounts,
		// and it needs no search of the mount table.
		var stat unix.Statx_t
		if err := unix.Statx(unix.AT_FDCWD, d.within(p), 0, unix.STATX_TYPE, &stat); err != nil {
			return &fs.PathError{Op: "stat", Path: d.within(p), Err: err}
		}
		is = stat.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
		return nil
	})
	return is, err
}

// Mounts lists the mounts in the node's own tree, sorted by target. In a namespace it lists all
// mounts since the start, and mounts that running programs made in their own namespaces. It returns
// the same slice as long as nothing changes.
func (d *Disk) Mounts() ([]Mount, error) {
	err := d.watchMounts()
	return d.seen.mounts, err
}

// Missing lists the mounts outside the kubelet's directory that running programs have unmounted in
// their own mount tables. Without namespaces it lists none.
func (d *Disk) Missing() ([]Missing, error) {
	err := d.watchMounts()
	return d.seen.missing, err
}

// watchMounts checks whether a mount table has changed.
func (d *Disk) watchMounts() error {
	table, err := d.mountTable()
	if err != nil {
		d.seen = mountsSeen{}
		return err
	}
	tables := []programTable{{nil, table}}
	for _, p := range d.running() {
		// An exiting program has no table any more.
		if its, err := p.mountTable(); d.own != nil && err == nil {
			tables = append(tables, programTable{p, its})
		}
	}
	if !slices.EqualFunc(d.seen.tables, tables, sameTable) {
		d.seen = d.describeAll(tables)
	}
	return nil
}

// programTable is the table of a program's namespace; for a program without a namespace, it is the
// node's.
type programTable struct {
	program *Process
	table   []*mountinfo.Info
}

// mountsSeen holds the mounts of the last call, and the tables from which they were read.
type mountsSeen struct {
	tables  []programTable
	mounts  []Mount
	missing []Missing
}

func sameTable(a, b programTable) bool {
	return a.program == b.program && len(a.table) == len(b.table) && (len(a.table) == 0 || &a.table[0] == &b.table[0])
}

func (d *Disk) describeAll(tables []programTable) mountsSeen {
	seen := mountsSeen{tables: tables}
	for _, t := range tables {
		if t.program == nil {
			seen.mounts = append(seen.mounts, d.nodeMounts(t.table)...)
		} else {
			seen.mounts = append(seen.mounts, d.mountsOf(t.program, t.table)...)
			seen.missing = append(seen.missing, t.program.missing(t.table, d.layout)...)
		}
	}
	sortMounts(seen.mounts)
	return seen
}

func (d *Disk) nodeMounts(table []*mountinfo.Info) (mounts []Mount) {
	for _, entry := range table {
		if d.isOwn(entry) {
			mounts = append(mounts, d.describe(entry, table))
		}
	}
	return mounts
}

// mountsOf returns the mounts that a program made only in its own namespace.
func (d *Disk) mountsOf(p *Process, table []*mountinfo.Info) (mounts []Mount) {
	for _, entry := range table {
		if p.base[entry.ID] == "" && !isWithin(entry.Mountpoint, d.layout.real()) {
			m := d.describe(entry, table)
			m.Root = d.layout.named(rootOf(entry, table, p.base))
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// missing returns the mounts that the program found at its start and that are no longer in its
// table. The kubelet's directory comes first.
func (p *Process) missing(table []*mountinfo.Info, l Layout) (missing []Missing) {
	now := pointsOf(table)
	for _, id := range slices.Sorted(maps.Keys(p.base)) {
		target := p.base[id]
		switch one := (Missing{PID: p.pid, Target: l.named(target)}); {
		case now[id] == target:
		case target == l.real():
			missing = slices.Insert(missing, 0, one)
		case !isWithin(target, l.real()):
			missing = append(missing, one)
		}
	}
	return missing
}

// mountTable returns the table of the program's namespace, which is the namespace of the thread
// that started it.
func (p *Process) mountTable() ([]*mountinfo.Info, error) {
	return p.mounts.of(p.parent)
}

// keepBase records the mounts that exist when the program starts.
func (p *Process) keepBase() error {
	table, err := p.mountTable()
	if err != nil {
		return fmt.Errorf("read the mount table of the program: %w", err)
	}
	p.base = pointsOf(table)
	return nil
}

// addToBase records later mounts on some points as part of the base.
func (p *Process) addToBase(points ...string) error {
	table, err := p.mountTable()
	if err != nil {
		return fmt.Errorf("read the mount table of the program: %w", err)
	}
	for _, entry := range table {
		if slices.Contains(points, entry.Mountpoint) {
			p.base[entry.ID] = entry.Mountpoint
		}
	}
	return nil
}

// pointsOf returns the mount points by the ids of the mounts.
func pointsOf(table []*mountinfo.Info) map[int]string {
	points := make(map[int]string, len(table))
	for _, entry := range table {
		points[entry.ID] = entry.Mountpoint
	}
	return points
}

// References lists the node's other mounts of the same file or directory of the same file system.
func (d *Disk) References(path string) ([]string, error) {
	table, err := d.mountTable()
	if err != nil {
		return nil, err
	}
	mounts := d.nodeMounts(table)
	i := slices.IndexFunc(mounts, func(m Mount) bool { return m.Target == path })
	if i < 0 {
		return nil, nil
	}
	var others []string
	for _, m := range mounts {
		if m.Target != path && m.Device == mounts[i].Device && m.Root == mounts[i].Root {
			others = append(others, m.Target)
		}
	}
	return others, nil
}

// isOwn reports whether a mount was made on this machine.
func (d *Disk) isOwn(entry *mountinfo.Info) bool {
	if d.own != nil {
		return d.own.base[entry.ID] == ""
	}
	return d.isInside(entry.Mountpoint)
}

func (d *Disk) isInside(real string) bool {
	_, below := cutDir(real, d.dir)
	return below && real != d.dir
}

// mountTable returns the mount table of the machine's namespace.
func (d *Disk) mountTable() (table []*mountinfo.Info, err error) {
	table, err = d.table.of(d.thread)
	if err != nil {
		return nil, fmt.Errorf("read the mount table of node %s: %w", d.name, err)
	}
	return table, nil
}

func (d *Disk) describe(entry *mountinfo.Info, table []*mountinfo.Info) Mount {
	options := strings.Split(entry.Options, ",")
	return Mount{
		Source:   entry.Source,
		Target:   d.NodePath(entry.Mountpoint),
		Root:     d.rootPath(entry, table),
		FSType:   entry.FSType,
		Device:   fmt.Sprintf("%d:%d", entry.Major, entry.Minor),
		Options:  options,
		ReadOnly: slices.Contains(options, "ro"),
	}
}

// rootPath returns the node path of the directory or file that a mount shows. Paths in the mount
// table start at the root of the file system, which is mounted elsewhere on the host.
func (d *Disk) rootPath(entry *mountinfo.Info, table []*mountinfo.Info) string {
	if d.own != nil {
		return d.layout.named(rootOf(entry, table, d.own.base))
	}
	for _, other := range slices.Backward(table) {
		if other.Major != entry.Major || other.Minor != entry.Minor || d.isInside(other.Mountpoint) {
			continue
		}
		below, ok := cutDir(entry.Root, strings.TrimSuffix(other.Root, "/"))
		if real := strings.TrimSuffix(other.Mountpoint, "/") + below; ok && d.isInside(real) {
			return d.NodePath(real)
		}
	}
	return entry.Root
}

// unmountAll drops all mounts in the tree, the latest first. All programs have exited by then. A
// mount that is still busy is detached lazily.
func (d *Disk) unmountAll() error {
	table, err := d.mountTable()
	if errors.Is(err, errStopped) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.do(func() error {
		for _, entry := range slices.Backward(table) {
			if !d.isOwn(entry) {
				continue
			}
			err := unix.Unmount(entry.Mountpoint, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
			if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
				return needsRoot("unmount "+entry.Mountpoint, err)
			}
		}
		return nil
	})
}
