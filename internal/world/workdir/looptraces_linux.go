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

// tracesName is the file in a run's directory that says which loop devices are the
// run's when their files are no longer there: removed, or in a file system in memory
// that nobody has mounted any more.
const tracesName = ".loops"

// The lines of that file.
const (
	loopTrace   = "loop %s %d %d" // device, file system and inode of its file
	memoryTrace = "memory %d"     // a file system in memory
	goneTrace   = "gone %d"       // one that is the run's no more
	runsTrace   = "runs %d"       // one that holds the directories of runs
)

// deleted is what the kernel adds to the path of a file that is removed.
const deleted = " (deleted)"

func leaveTrace(dir string, lines ...string) error {
	file, err := os.OpenFile(filepath.Join(dir, tracesName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("remember a loop device: %w", err)
	}
	_, err = file.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, file.Close())
}

// traces are what distinguishes a run's loop devices from those of others.
type traces struct {
	dir    string
	device uint64 // of the file system that dir is in
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
	for lines := bufio.NewScanner(record); lines.Scan(); { // what a killed run did not finish fits neither form
		var s shown
		var device uint64
		if n, _ := fmt.Sscanf(lines.Text(), loopTrace, &s.device, &s.file.device, &s.file.inode); n == 3 {
			t.loops[s] = true
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

// forget leaves out a file system whose number may be somebody else's by now, with what was shown of it.
func (t *traces) forget(device uint64) {
	delete(t.memory, device)
	maps.DeleteFunc(t.loops, func(s shown, _ bool) bool { return s.file.device == device })
}

// leadTo says whether a loop device is the run's. The path that the kernel reports of a
// file is short of its beginning when the file was opened in a mount namespace that is
// gone; so it is the file itself that counts, and the path only if that is removed.
func (t *traces) leadTo(s shown, backing string) bool {
	switch {
	case t.runs[s.file.device] && processOf(innermostRun(backing)) == processOf(filepath.Base(t.dir)):
		return !isMounted(s.file.device) // else the number was given to somebody else's
	case isOfAnotherRun(backing, t.dir): // which was given the number of a file that is removed
		return false
	case t.files[s.file], t.loops[s], isBelow(backing, t.dir):
		return true
	case t.memory[s.file.device]:
		return !isMounted(s.file.device) // else the number was given to somebody else's
	}
	return s.file.device == t.device && strings.HasSuffix(backing, deleted) && strings.Contains(backing, "/"+filepath.Base(t.dir)+"/")
}

// isOfAnotherRun says whether a path leads through the directory of another run than that
// of dir; the innermost counts.
func isOfAnotherRun(path, dir string) bool {
	run := innermostRun(path)
	return run != "" && run != filepath.Base(dir)
}

// innermostRun is the name of the last directory of a run in a path; empty if there is none.
func innermostRun(path string) (run string) {
	for name := range strings.SplitSeq(path, "/") {
		if runName.MatchString(name) {
			run = name
		}
	}
	return run
}

// processOf is the number of the process whose run has this name; empty if it is that of no run.
func processOf(run string) string {
	if name := runName.FindStringSubmatch(run); name != nil {
		return name[1]
	}
	return ""
}

// isMounted says whether a process that lives has a file system mounted.
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
