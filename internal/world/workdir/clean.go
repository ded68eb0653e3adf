package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// Report lists the leftovers that Clean removed.
type Report struct {
	Runs []Leftover
}

// Leftover is the part of one killed run that Clean removed.
type Leftover struct {
	Dir       string
	Killed    []Program
	Unmounted []string // mount points
	Detached  []string // loop devices
	// Before is set if the directory had already been removed, and only loop devices still had its
	// deleted files.
	Before bool
}

// Program is a process that outlived its run.
type Program struct {
	PID  int
	Name string
}

// String returns one line for each removed thing; empty if there is none.
func (r Report) String() string {
	var b strings.Builder
	for _, run := range r.Runs {
		for _, p := range run.Killed {
			fmt.Fprintf(&b, "killed process %d (%s)\n", p.PID, p.Name)
		}
		for _, m := range run.Unmounted {
			fmt.Fprintf(&b, "unmounted %s\n", m)
		}
		for _, l := range run.Detached {
			fmt.Fprintf(&b, "detached %s\n", l)
		}
		if !run.Before {
			fmt.Fprintf(&b, "removed %s\n", run.Dir)
		}
	}
	return b.String()
}

// killPatience bounds the time that killed processes may take to disappear.
const killPatience = 5 * time.Second

var runName = lazyregexp.New(`^csisim-([0-9]+)-[0-9]+$`)

// Clean removes the directories of dead runs below parent, with their processes, mounts and loop
// devices. It does not touch live runs, or directories of other users. If a run cannot be removed,
// it continues with the next one. The error names all such runs.
func Clean(parent string) (Report, error) {
	if parent == "" {
		parent = os.TempDir()
	}
	real, err := realPath(parent)
	if err != nil {
		return Report{}, fmt.Errorf("look for leftovers in %s: %w", parent, err)
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return Report{}, fmt.Errorf("look for leftovers in %s: %w", parent, err)
	}
	var report Report
	var failed []error
	for _, entry := range entries {
		left, err := cleanRun(filepath.Join(real, entry.Name()), entry)
		if err != nil {
			failed = append(failed, err)
		} else if left.Dir != "" {
			report.Runs = append(report.Runs, left)
		}
	}
	orphans, err := detachOrphans(real)
	report.Runs = append(report.Runs, orphans...)
	forgotten, unregistered := detachForgotten()
	report.Runs = append(report.Runs, forgotten...)
	return report, errors.Join(append(failed, err, unregistered)...)
}

// cleanRun removes one directory if it belongs to a dead run of this user.
func cleanRun(dir string, entry fs.DirEntry) (Leftover, error) {
	name := runName().FindStringSubmatch(entry.Name())
	if name == nil || !entry.IsDir() || !isMine(entry) {
		return Leftover{}, nil
	}
	lock, err := acquireFromDying(dir)
	switch {
	case errors.Is(err, errNotOurs):
		return Leftover{}, nil
	case errors.Is(err, fs.ErrNotExist):
		return cleanUnlocked(dir, name[1])
	case err != nil:
		return Leftover{}, fmt.Errorf("look at %s: %w", dir, err)
	}
	defer lock.Close()
	return sweep(dir, readOwner(lock))
}

// cleanUnlocked removes a directory without a lock file. Its run died just after it created the
// directory, unless it is about to create the file. In a process namespace it is impossible to see
// whether the run is alive. The first process that creates the lock gets the directory. If Clean is
// first, the run uses another directory.
func cleanUnlocked(dir, pid string) (Leftover, error) {
	if _, err := os.Stat(filepath.Join("/proc", pid)); err == nil {
		return Leftover{}, nil
	}
	number, err := strconv.Atoi(pid)
	if err != nil {
		return Leftover{}, nil
	}
	lock, err := acquire(dir, os.O_CREATE)
	if errors.Is(err, errNotOurs) {
		return Leftover{}, nil
	}
	if err != nil {
		return Leftover{}, fmt.Errorf("look at %s: %w", dir, err)
	}
	defer lock.Close()
	return sweep(dir, owner{pid: number})
}

func isMine(entry fs.DirEntry) bool {
	info, err := entry.Info()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// sweep removes a run: first the users of its files, then the files.
func sweep(dir string, o owner) (Leftover, error) {
	left, err := release(dir, o)
	if err != nil {
		return left, err
	}
	if err := RemoveTree(dir); err != nil {
		return left, err
	}
	unregister(dir)
	return left, nil
}

// release ends all that uses the files of a run.
func release(dir string, o owner) (left Leftover, err error) {
	left.Dir = dir
	if left.Killed, err = killPrograms(dir, o); err != nil {
		return left, fmt.Errorf("clean %s: %w", dir, err)
	}
	if left.Unmounted, err = unmountBelow(dir); err != nil {
		return left, fmt.Errorf("clean %s: %w", dir, err)
	}
	if left.Detached, err = detachLoops(dir); err != nil {
		return left, fmt.Errorf("clean %s: %w", dir, err)
	}
	return left, nil
}

// isBelow reports whether path is dir or below it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+"/")
}
