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

// controlGroup bounds a program. In the older form of control groups each controller has a hierarchy of its own, to which single threads
// belong, and children follow the thread that forks them; in the newer one a child is started in it.
type controlGroup struct {
	homes   map[string]string // the directory that it is in, by controller
	name    string
	held    []*os.File // its directories, which are locked as long as csisim lives
	unified bool       // in the newer form both controllers have one directory
}

// The controllers that are needed.
const (
	controlsProcesses = "pids"
	controlsMemory    = "memory"
)

// groupPrefix begins the names of control groups.
const groupPrefix = "csisim-"

// ownGroups begins those of this process. It is drawn: the numbers of two csisims may be the same, each in its own process namespace.
var ownGroups = sync.OnceValue(func() string { return groupPrefix + rand.Text()[:8] + "-" })

var groups atomic.Int64

// newControlGroup makes a group with limits; nil where there are none, or csisim may not make one.
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

// dirs are the group's directories.
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

// makeHeld makes and locks a directory. Another csisim that looks for what was left behind may remove it before it is locked.
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
		_ = os.WriteFile(filepath.Join(g.dir(controlsMemory), "memory.oom.group"), []byte("1"), 0o644) // as the kubelet does; older kernels lack it
	}
	return nil
}

func (g *controlGroup) dir(controller string) string {
	return filepath.Join(g.homes[controller], g.name)
}

// admit has the children of a thread be in the group.
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

// leave takes a thread out of the group, removes it, and reports whether a process of it was killed for want of memory.
func (g *controlGroup) leave(t *thread) (outOfMemory bool) {
	if g == nil {
		return false
	}
	for _, file := range []string{"memory.oom_control", "memory.events"} {
		text, _ := os.ReadFile(filepath.Join(g.dir(controlsMemory), file)) // each form has one of them
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

// remove removes what there is of the group. What it cannot remove the next run does.
func (g *controlGroup) remove() {
	for _, held := range g.held {
		_ = os.Remove(held.Name())
		_ = held.Close() // it was only locked
	}
}

// RemoveDeadGroups removes the control groups that csisims that were killed have left, and returns their directories.
func RemoveDeadGroups() (removed []string) {
	homes, _ := groupHomes()
	for _, home := range slices.Compact(slices.Sorted(maps.Values(homes))) {
		removed = append(removed, removeDeadGroups(home)...)
	}
	return removed
}

// removeDeadGroups removes the groups of csisims that were killed: nobody holds them. One that has processes stays.
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

// groupHomes are the directories in which groups can be made, by controller, and whether that is the newer form.
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
				// Who has processes of its own has no groups with limits below it.
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

// shownAt is the directory of a group where a hierarchy is mounted; a container shows its own group as the root.
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
