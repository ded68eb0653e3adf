package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/csisim/csisim/internal/world/workdir"
)

// Disk is a machine with a tree in a directory of the host. It has real files, sockets and programs
// and, if the user may mount, real mounts. It is either in csisim's mount namespace or has its own:
// see NewNamespace.
//
// The kubelet's directory is the directory "kubelet" there. It is separate so that socket paths
// stay short, and is not listed in the directory above. /dev, /proc and /sys belong to the host.
// All other paths are below "fs". In a namespace all of the node's own files are in memory: see
// ownRoot.
type Disk struct {
	name   string
	dir    string   // on the host, absolute and without symlinks
	host   bool     // the machine's tree is the host's own tree
	own    *ownRoot // the root in a separate mount namespace; nil if there is none
	layout Layout
	net    *Network // the network of its process 1; nil for csisim's own
	// thread is in the namespace; nil if there is none.
	thread *thread
	table  mountTable
	seen   mountsSeen

	mu         sync.Mutex
	programs   []*Process
	launched   bool // some program was started since the last power-off
	ownDirs    []string
	containers []*ownRoot // current and former roots of programs
	listeners  []*diskListener
	watches    []*diskWatch

	kept  map[string]*os.File // open by KeepOpen
	views map[string]keptView // by KeepView

	keeps    bool // its files after Close
	unsynced *unsynced
	loops    loopDevices
	lost     int // the number of files that the last power-off has truncated

	lossSeen func(how string) // of OnLoss
	// Paths that Written does not list, since they existed before the programs.
	furnished map[string]bool
	// nodePaths are the directories that containers keep on the node.
	nodePaths []string
}

var _ Machine = (*Disk)(nil)

// NewDisk creates a machine in dir, which it creates if it is missing. Its mounts are visible on
// the host.
func NewDisk(name, dir string) (*Disk, error) { return NewDiskWith(name, dir, Layout{}) }

// NewDiskWith is NewDisk for a machine with another layout. Programs do not see its symlink.
func NewDiskWith(name, dir string, l Layout) (*Disk, error) {
	d := &Disk{name: name, layout: l}
	if err := d.settle(dir, "kubelet", "fs/var/lib"); err != nil {
		return nil, fmt.Errorf("make the directory tree of node %s: %w", name, err)
	}
	return d, nil
}

// settle makes the machine's directory on the host, with subdirectories.
func (d *Disk) settle(dir string, within ...string) error {
	for _, sub := range append(within, "") {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	d.unsynced = d.newUnsynced()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	d.dir, err = filepath.Abs(real)
	return err
}

// Name returns the name of the node.
func (d *Disk) Name() string { return d.name }

// Layout returns the place of the kubelet's directory.
func (d *Disk) Layout() Layout { return d.layout }

// kubelet returns the host directory that is the kubelet's directory on the node.
func (d *Disk) kubelet() string {
	if d.host {
		return d.layout.real()
	}
	if d.own != nil && d.own.kubelet == "" {
		return d.own.outside() + d.layout.real()
	}
	return d.dir + "/kubelet"
}

// rest returns the host directory that is the node's root, except for the kubelet's directory.
func (d *Disk) rest() string {
	if d.host {
		return ""
	}
	if d.own != nil {
		return d.own.outside()
	}
	return d.dir + "/fs"
}

// Path returns the host path of a node path.
func (d *Disk) Path(p string) string {
	p = path.Clean("/" + p)
	if below, ok := d.layout.Below(p); ok {
		return d.kubelet() + below
	}
	for _, dir := range []string{"/dev", "/proc", "/sys"} {
		if _, ok := cutDir(p, dir); ok {
			return p
		}
	}
	return strings.TrimSuffix(d.rest()+p, "/")
}

// NodePath returns the node path of a host path. A path outside the node does not change. A path of
// the machine's thread is already a node path and does not change either.
func (d *Disk) NodePath(real string) string {
	if below, ok := cutDir(real, d.kubelet()); ok {
		return d.layout.KubeletDir() + below
	}
	if below, ok := cutDir(real, d.rest()); ok {
		return d.layout.named(path.Join("/", below))
	}
	if d.own != nil {
		return d.layout.named(real)
	}
	return real
}

// cutDir cuts a leading directory off a path.
func cutDir(p, dir string) (below string, ok bool) {
	below, ok = strings.CutPrefix(p, dir)
	return below, ok && (below == "" || below[0] == '/')
}

// do runs f where the machine's mounts are visible. f must not call do.
func (d *Disk) do(f func() error) error {
	return withFiles(func() error {
		if d.own != nil {
			return d.thread.do(f)
		}
		return f()
	})
}

// PowerOff kills all programs and servers, drops all mounts, and loses writes that were not synced.
func (d *Disk) PowerOff() error {
	d.mu.Lock()
	programs, listeners, launched := d.programs, d.listeners, d.launched
	d.programs, d.listeners, d.launched = nil, nil, false
	d.mu.Unlock()
	var failed []error
	for _, p := range programs {
		failed = append(failed, p.Kill())
	}
	for _, l := range listeners {
		l.end()
	}
	if launched {
		failed = append(failed, d.killLeft())
	}
	d.lost = d.unsynced.lose()
	return errors.Join(append(failed, d.letAllGo(), d.CloseViews(""), d.unmountAll(), d.loops.lose())...)
}

// ClockMoved sets the cluster's time, which decides when the kernel writes unsynced files to the
// disk.
func (d *Disk) ClockMoved(now time.Duration) { d.unsynced.moved(now) }

// Lost returns the number of files that the last power-off has truncated because programs had not
// synced them.
func (d *Disk) Lost() int { return d.lost }

// Keep makes Close keep the files on the disk, as an orderly shutdown does.
func (d *Disk) Keep() { d.keeps = true }

// Close powers off, ends the machine's thread and with it its mount namespace, and removes the
// directory unless Keep was called.
func (d *Disk) Close() error {
	if d.keeps {
		d.unsynced.reachAll()
	}
	if err := d.PowerOff(); err != nil {
		return err
	}
	d.mu.Lock()
	watches := d.watches
	d.watches = nil
	d.mu.Unlock()
	for _, w := range watches {
		w.stop()
	}
	if err := d.table.close(); err != nil {
		return fmt.Errorf("close the mount table of node %s: %w", d.name, err)
	}
	if d.thread != nil {
		d.thread.stop()
		for _, root := range append(d.containers, d.own) {
			if err := root.close(); err != nil {
				return fmt.Errorf("close the root of node %s: %w", d.name, err)
			}
		}
	}
	if d.keeps {
		return nil
	}
	return workdir.RemoveTree(d.dir)
}

// within returns csisim's path of a node path on the machine's thread. It does not lead through the
// symlink to the kubelet's directory.
func (d *Disk) within(p string) string {
	if d.own == nil {
		return d.Path(p)
	}
	p = path.Clean("/" + p)
	if below, ok := d.layout.Below(p); ok && below != "" {
		return d.layout.real() + below
	}
	return p
}

// ProgramPath returns the path of a node path for a program of this machine.
func (d *Disk) ProgramPath(p string) string {
	if d.own != nil {
		return path.Clean("/" + p)
	}
	return d.Path(p)
}

// MountsAt counts the stacked mounts at path. A missing path has none.
func (d *Disk) MountsAt(path string) (n int, err error) {
	if mounted, err := d.IsMountPoint(path); errors.Is(err, fs.ErrNotExist) || err == nil && !mounted {
		return 0, nil // the whole table need not be listed
	}
	mounts, err := d.mountsAt(path)
	return len(mounts), err
}

// mountsAt lists the mounts at a path, the covering one last.
func (d *Disk) mountsAt(path string) (at []Mount, err error) {
	mounts, err := d.Mounts()
	for _, m := range mounts {
		if m.Target == path {
			at = append(at, m)
		}
	}
	return at, err
}

// KeepOnNode assigns a directory to the node itself, like the directories that containers keep.
// Written does not list changes in it.
func (d *Disk) KeepOnNode(dir string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.nodePaths = append(d.nodePaths, dir)
}
