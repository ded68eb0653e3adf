package machine

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// controlGroup bounds a program. In the older form of control groups each controller has a hierarchy of its own, to which single threads
// belong, and children follow the thread that forks them; in the newer one a child is started in it.
type controlGroup struct {
	homes   map[string]string // the directory that it is in, by controller
	name    string
	unified *os.File // its directory in the newer form; nil in the older one
}

// The controllers that are needed.
const (
	controlsProcesses = "pids"
	controlsMemory    = "memory"
)

// groupPrefix begins the names of control groups; the number of the csisim that made it follows.
const groupPrefix = "csisim-"

var groups atomic.Int64

// newControlGroup makes a group with limits; nil where there are none, or csisim may not make one.
func newControlGroup(l Limits) *controlGroup {
	if l == (Limits{}) {
		return nil
	}
	homes, unified := groupHomes()
	g := &controlGroup{homes: homes, name: fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groups.Add(1))}
	if len(homes) == 0 {
		return nil
	}
	files := map[string]int64{"pids/pids.max": l.Processes, "memory/memory.limit_in_bytes": l.Memory}
	if unified {
		files = map[string]int64{"pids/pids.max": l.Processes, "memory/memory.max": l.Memory}
	}
	if err := g.make(files, unified); err != nil {
		g.remove()
		return nil
	}
	return g
}

func (g *controlGroup) make(files map[string]int64, unified bool) error {
	for controller, home := range g.homes {
		removeDeadGroups(home)
		if err := os.Mkdir(g.dir(controller), 0o755); err != nil && !(unified && errors.Is(err, fs.ErrExist)) {
			return err
		}
	}
	for name, limit := range files {
		controller, file, _ := strings.Cut(name, "/")
		if limit == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(g.dir(controller), file), []byte(strconv.FormatInt(limit, 10)), 0o644); err != nil {
			return err
		}
	}
	if !unified {
		return nil
	}
	_ = os.WriteFile(filepath.Join(g.dir(controlsMemory), "memory.oom.group"), []byte("1"), 0o644) // as the kubelet does; older kernels lack it
	dir, err := os.OpenFile(g.dir(controlsMemory), unix.O_PATH|unix.O_DIRECTORY, 0)
	g.unified = dir
	return err
}

func (g *controlGroup) dir(controller string) string {
	return filepath.Join(g.homes[controller], g.name)
}

// admit has the children of a thread be in the group.
func (g *controlGroup) admit(t *thread) error {
	if g == nil || g.unified != nil {
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
	if g != nil && g.unified != nil {
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(g.unified.Fd())
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
	if g.unified == nil {
		_ = g.moveTo(t, "") // if it fails, the next run removes the group
	}
	g.remove()
	return outOfMemory
}

// remove removes what there is of the group. What it cannot remove the next run does.
func (g *controlGroup) remove() {
	if g.unified != nil {
		_ = g.unified.Close()
	}
	for controller := range g.homes {
		_ = os.Remove(g.dir(controller))
	}
}

// removeDeadGroups removes the groups of csisims that were killed.
func removeDeadGroups(home string) {
	left, _ := filepath.Glob(filepath.Join(home, groupPrefix+"*"))
	for _, dir := range left {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if pid, err := strconv.Atoi(number); err == nil && unix.Kill(pid, 0) == unix.ESRCH {
			_ = os.Remove(dir) // one that has processes stays
		}
	}
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
