package workdir

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// The lines of that file.
const (
	loopTrace   = "loop %s %d %d"  // device, file system and inode of its file
	freedTrace  = "freed %s %d %d" // the same device, when it was detached
	memoryTrace = "memory %d"      // a file system in memory
	goneTrace   = "gone %d"        // an entry that no longer belongs to the run
	runsTrace   = "runs %d"        // a file system with the directories of runs
)

// deleted is appended by the kernel to the path of a removed file.
const deleted = " (deleted)"

func leaveTrace(dir string, lines ...string) error {
	file, err := os.OpenFile(filepath.Join(dir, tracesName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("remember a loop device: %w", err)
	}
	_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, file.Close())
}

// traces identify a run's loop devices.
type traces struct {
	dir    string
	device uint64 // of the file system of dir
	files  map[file]bool
	loops  map[shown]bool
	memory map[uint64]bool
	runs   map[uint64]bool
}

func tracesOf(dir string) (*traces, error) {
	t := &traces{dir: dir, files: filesBelow(dir), loops: map[shown]bool{}, memory: map[uint64]bool{}, runs: map[uint64]bool{}}
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return nil, fmt.Errorf("look at %s: %w", dir, err)
	}
	t.device = stat.Dev
	record, err := os.Open(filepath.Join(dir, tracesName))
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	defer record.Close()
	// An unfinished line of a killed run matches no form.
	for lines := bufio.NewScanner(record); lines.Scan(); {
		var s shown
		var device uint64
		if n, _ := fmt.Sscanf(lines.Text(), loopTrace, &s.device, &s.file.device, &s.file.inode); n == 3 {
			t.loops[s] = true
		}
		if n, _ := fmt.Sscanf(lines.Text(), freedTrace, &s.device, &s.file.device, &s.file.inode); n == 3 {
			delete(t.loops, s)
		}
		if n, _ := fmt.Sscanf(lines.Text(), memoryTrace, &device); n == 1 {
			t.memory[device] = true
		}
		if n, _ := fmt.Sscanf(lines.Text(), goneTrace, &device); n == 1 {
			t.forget(device)
		}
		if n, _ := fmt.Sscanf(lines.Text(), runsTrace, &device); n == 1 {
			t.runs[device] = true
		}
	}
	return t, nil
}

// forget drops a file system with a number that may be reused, and its loop devices.
func (t *traces) forget(device uint64) {
	delete(t.memory, device)
	maps.DeleteFunc(t.loops, func(s shown, _ bool) bool { return s.file.device == device })
}

// leadTo reports whether a loop device belongs to the run. The beginning of the kernel's path of a
// file is missing if the file was opened in a mount namespace that has ended. Therefore the file
// itself is compared, and the path only if the file was removed.
func (t *traces) leadTo(s shown, backing string) bool {
	switch {
	case t.runs[s.file.device] && processOf(innermostRun(backing)) == processOf(filepath.Base(t.dir)):
		return !isMounted(s.file.device) // otherwise the number was reused
	case isOfAnotherRun(backing, t.dir): // it has the reused number of a removed file
		return false
	case t.files[s.file], t.loops[s], isBelow(backing, t.dir):
		return true
	case t.memory[s.file.device]:
		return !isMounted(s.file.device) // otherwise the number was reused
	}
	return s.file.device == t.device && strings.HasSuffix(backing, deleted) && strings.Contains(backing, "/"+filepath.Base(t.dir)+"/")
}

// isOfAnotherRun reports whether a path leads through the directory of a run other than dir's. The
// innermost run counts.
func isOfAnotherRun(path, dir string) bool {
	run := innermostRun(path)
	return run != "" && run != filepath.Base(dir)
}

// innermostRun returns the name of the last directory of a run in a path; empty if there is none.
func innermostRun(path string) (run string) {
	for name := range strings.SplitSeq(path, "/") {
		if runName().MatchString(name) {
			run = name
		}
	}
	return run
}

// processOf returns the number of the process in the name of a run; empty for any other name.
func processOf(run string) string {
	if name := runName().FindStringSubmatch(run); name != nil {
		return name[1]
	}
	return ""
}

// isMounted reports whether a running process has a file system mounted.
func isMounted(device uint64) bool {
	tables, _ := filepath.Glob("/proc/[0-9]*/mountinfo")
	is := false
	for _, path := range tables {
		table, err := os.Open(path)
		if err != nil {
			continue // it has ended
		}
		_, _ = mountinfo.GetMountsFromReader(table, func(m *mountinfo.Info) (skip, stop bool) {
			is = is || unix.Mkdev(uint32(m.Major), uint32(m.Minor)) == device
			return true, is
		})
		_ = table.Close()
	}
	return is
}
