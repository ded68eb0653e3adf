package machine

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// controlGroup limits a program. In control groups v1 each controller has its own hierarchy with
// individual threads, and a child is in the group of the thread that forks it. In v2, a child
// starts in the group.
type controlGroup struct {
	homes   map[string]string // its parent directory, by controller
	name    string
	held    []*os.File // its directories, locked while csisim runs
	unified bool       // v2: both controllers have one directory
}

// The controllers that are needed.
const (
	controlsProcesses = "pids"
	controlsMemory    = "memory"
)

// groupPrefix begins the names of control groups.
const groupPrefix = "csisim-"

// ownGroups is the prefix of this process's groups. It is random, because two csisims may have the
// same process number in separate process namespaces.
var ownGroups = sync.OnceValue(func() string { return groupPrefix + rand.Text()[:8] + "-" })

var groups atomic.Int64

// newControlGroup makes a group with limits. It returns nil if there are no limits, or if csisim
// may not create a group.
func newControlGroup(l Limits) *controlGroup {
	if l == (Limits{}) {
		return nil
	}
	homes, unified := groupHomes()
	if len(homes) == 0 {
		return nil
	}
	g := &controlGroup{homes: homes, unified: unified, name: ownGroups() + strconv.FormatInt(groups.Add(1), 10)}
	err := g.make()
	if err == nil {
		err = g.bound(l)
	}
	if err != nil {
		g.remove()
		return nil
	}
	return g
}

// dirs returns the group's directories.
func (g *controlGroup) dirs() []string {
	if g.unified {
		return []string{g.dir(controlsProcesses)}
	}
	return []string{g.dir(controlsProcesses), g.dir(controlsMemory)}
}

func (g *controlGroup) make() error {
	for _, dir := range g.dirs() {
		removeDeadGroups(filepath.Dir(dir))
		held, err := makeHeld(dir)
		if err != nil {
			return err
		}
		g.held = append(g.held, held)
	}
	return nil
}

// makeHeld makes and locks a directory. Another csisim that removes abandoned groups may remove it
// before it is locked.
func makeHeld(dir string) (*os.File, error) {
	for {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, err
		}
		held, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(held.Fd()), unix.LOCK_EX)
		if err == nil {
			_, err = os.Stat(dir)
		}
		if err == nil {
			return held, nil
		}
		if _ = held.Close(); !errors.Is(err, fs.ErrNotExist) { // it was only locked
			return nil, err
		}
	}
}

// bound sets the limits.
func (g *controlGroup) bound(l Limits) error {
	memory := "memory.limit_in_bytes"
	if g.unified {
		memory = "memory.max"
	}
	for _, bound := range []struct {
		controller, file string
		limit            int64
	}{{controlsProcesses, "pids.max", l.Processes}, {controlsMemory, memory, l.Memory}} {
		if bound.limit == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(g.dir(bound.controller), bound.file), []byte(strconv.FormatInt(bound.limit, 10)), 0o644); err != nil {
			return err
		}
	}
	if g.unified {
		// The kubelet does the same; older kernels lack this file.
		_ = os.WriteFile(filepath.Join(g.dir(controlsMemory), "memory.oom.group"), []byte("1"), 0o644)
	}
	return nil
}

func (g *controlGroup) dir(controller string) string {
	return filepath.Join(g.homes[controller], g.name)
}

// admit places the children of a thread in the group.
func (g *controlGroup) admit(t *thread) error {
	if g == nil || g.unified {
		return nil
	}
	return g.moveTo(t, g.name)
}

func (g *controlGroup) moveTo(t *thread, name string) error {
	for _, home := range g.homes {
		if err := os.WriteFile(filepath.Join(home, name, "tasks"), []byte(strconv.Itoa(t.id)), 0o644); err != nil {
			return fmt.Errorf("limit a program: %w", err)
		}
	}
	return nil
}

// limit starts a command in the group.
func (g *controlGroup) limit(cmd *exec.Cmd) {
	if g != nil && g.unified {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.held[0].Fd())
	}
}

// leave moves a thread out of the group, removes the group, and reports whether one of its
// processes was killed for lack of memory.
func (g *controlGroup) leave(t *thread) (outOfMemory bool) {
	if g == nil {
		return false
	}
	for _, file := range []string{"memory.oom_control", "memory.events"} {
		// V1 and v2 have one of these files each.
		text, _ := os.ReadFile(filepath.Join(g.dir(controlsMemory), file))
		for line := range bytes.Lines(text) {
			if count, is := strings.CutPrefix(strings.TrimSpace(string(line)), "oom_kill "); is && count != "0" {
				outOfMemory = true
			}
		}
	}
	if !g.unified {
		_ = g.moveTo(t, "") // if it fails, the next run removes the group
	}
	g.remove()
	return outOfMemory
}

// remove removes the group's directories. If that fails, the next run removes them.
func (g *controlGroup) remove() {
	for _, held := range g.held {
		_ = os.Remove(held.Name())
		_ = held.Close() // it was only locked
	}
}

// RemoveDeadGroups removes the control groups of killed csisims, and returns their directories.
func RemoveDeadGroups() (removed []string) {
	homes, _ := groupHomes()
	for _, home := range slices.Compact(slices.Sorted(maps.Values(homes))) {
		removed = append(removed, removeDeadGroups(home)...)
	}
	return removed
}

// removeDeadGroups removes the groups of killed csisims, which no process has locked. A group with
// processes stays.
func removeDeadGroups(home string) (removed []string) {
	left, _ := filepath.Glob(filepath.Join(home, groupPrefix+"*"))
	for _, name := range left {
		dir, err := os.Open(name)
		if err != nil {
			continue
		}
		if unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && os.Remove(name) == nil {
			removed = append(removed, name)
		}
		_ = dir.Close()
	}
	return removed
}

// groupHomes returns the parent directories of groups, by controller, and whether they are of v2.
func groupHomes() (homes map[string]string, unified bool) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, false
	}
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	if err != nil {
		return nil, false
	}
	homes = map[string]string{}
	for line := range strings.Lines(string(own)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy, controllers, path
		if len(fields) != 3 {
			continue
		}
		for _, m := range mounts {
			dir := shownAt(m, fields[2])
			if m.FSType == "cgroup2" && fields[1] == "" {
				// A v2 group that itself contains processes cannot have subgroups with limits.
				if dir != m.Mountpoint {
					dir = filepath.Dir(dir)
				}
				if controlsBoth(dir) {
					return map[string]string{controlsProcesses: dir, controlsMemory: dir}, true
				}
			}
			if isController := fields[1] == controlsProcesses || fields[1] == controlsMemory; isController && m.VFSOptions == "rw,"+fields[1] {
				homes[fields[1]] = dir
			}
		}
	}
	if len(homes) != 2 {
		return nil, false
	}
	return homes, false
}

// shownAt returns the directory of a group below the mount point of a hierarchy. In a container,
// the container's own group appears as the root.
func shownAt(m *mountinfo.Info, group string) string {
	within, err := filepath.Rel(m.Root, group)
	if err != nil || strings.HasPrefix(within, "..") {
		return m.Mountpoint
	}
	return filepath.Join(m.Mountpoint, within)
}

// controlsBoth reports whether groups in a directory can have limits.
func controlsBoth(home string) bool {
	text, err := os.ReadFile(filepath.Join(home, "cgroup.controllers"))
	if err != nil {
		return false
	}
	for _, controller := range []string{controlsProcesses, controlsMemory} {
		if !slices.Contains(strings.Fields(string(text)), controller) ||
			os.WriteFile(filepath.Join(home, "cgroup.subtree_control"), []byte("+"+controller), 0o644) != nil {
			return false
		}
	}
	return true
}
