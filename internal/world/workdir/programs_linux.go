package workdir

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// KillPrograms kills all processes with a directory of this process's run in their environment,
// including those that left their parents' groups.
func KillPrograms(dir string) ([]Program, error) { return killPrograms(dir, owner{}) }

func killPrograms(dir string, o owner) ([]Program, error) {
	return KillAll(func(pid int) bool { return isOf(dir, o, pid) })
}

// KillAll kills the matching processes, but never this process. It repeats the search until it
// finds none, because the processes may fork meanwhile.
func KillAll(belongs func(pid int) bool) ([]Program, error) {
	var killed []Program
	deadline := time.Now().Add(killPatience)
	for {
		found, err := killOnce(belongs)
		killed = append(killed, found...)
		if err != nil || len(found) == 0 {
			return killed, err
		}
		if time.Now().After(deadline) {
			return killed, errors.New("programs start new ones faster than they can be killed")
		}
	}
}

func killOnce(belongs func(pid int) bool) ([]Program, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var killed []Program
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		found, err := killIf(belongs, pid)
		if err != nil {
			return killed, err
		}
		if found != nil {
			killed = append(killed, *found)
		}
	}
	return killed, nil
}

// killIf kills one process if it matches. The pidfd refers to the same process throughout, even if
// its number is reused meanwhile.
func killIf(belongs func(pid int) bool, pid int) (*Program, error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) {
		return nil, nil // it has exited, or is a thread
	}
	if err != nil {
		return nil, fmt.Errorf("look at process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if !belongs(pid) {
		return nil, nil
	}
	program := &Program{PID: pid, Name: programName(pid)}
	err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err == nil {
		err = awaitExit(fd)
	}
	if err != nil {
		return nil, fmt.Errorf("kill process %d (%s): %w", pid, program.Name, err)
	}
	return program, nil
}

// isOf returns false for processes of other users, which have no readable environment, and for
// processes older than the run.
func isOf(dir string, o owner, pid int) bool {
	for variable := range bytes.SplitSeq(environment(pid), []byte{0}) {
		run, ok := strings.CutPrefix(string(variable), EnvRun+"=")
		if ok && isBelow(run, dir) {
			started, err := startTime(pid)
			return err == nil && started >= o.started
		}
	}
	return false
}

// environment returns the environment of a process; nil if it is not readable. During an exec it is
// empty for a moment.
func environment(pid int) []byte {
	const moment, looks = time.Millisecond, 5
	for range looks {
		environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(environ) > 0 || !runsProgram(pid) {
			return environ
		}
		time.Sleep(moment)
	}
	return nil
}

// runsProgram returns false for the kernel's own threads and for ended processes.
func runsProgram(pid int) bool {
	_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

// isDying reports whether the process of a run has ended, or was killed and is about to end.
func isDying(o owner) bool {
	stat, err := StatOf(o.pid)
	if err != nil || stat.Started != o.started {
		return false
	}
	return stat.State == 'Z' || stat.State == 'X' || isKilled(o.pid)
}

// isKilled reports whether a SIGKILL is pending for a process.
func isKilled(pid int) bool {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may already have exited
	for line := range strings.Lines(string(status)) {
		name, mask, _ := strings.Cut(line, ":")
		pending, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
		if (name == "SigPnd" || name == "ShdPnd") && err == nil && pending&(1<<(unix.SIGKILL-1)) != 0 {
			return true
		}
	}
	return false
}

func programName(pid int) string {
	comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	return strings.TrimSpace(string(comm))
}

func awaitExit(pidfd int) error {
	deadline := time.Now().Add(killPatience)
	for {
		left := time.Until(deadline)
		if left <= 0 {
			return errors.New("it survives SIGKILL: it hangs in the kernel")
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 {
			return nil
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
