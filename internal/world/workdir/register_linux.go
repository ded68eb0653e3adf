package workdir

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// register is a directory of the machine with a file for each run that has loop devices. Clean uses
// it if the directory of a killed run was removed by hand. A reboot removes its files together with
// the loop devices.
const register = "/run/csisim"

// registered is a line of such a file: the device, the file system and inode of its file, and the
// directory of the run.
const registered = "%s %d %d %q"

// registerOf returns the file of a run.
func registerOf(dir string) string {
	const short = 8
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(register, fmt.Sprintf("%x", sum[:short]))
}

// registerLoop records a loop device of a run. Without the record Clean needs the run's directory.
func registerLoop(dir string, s shown) {
	if os.MkdirAll(register, 0o755) != nil {
		return
	}
	record, err := os.OpenFile(registerOf(dir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(record, registered+"\n", s.device, s.file.device, s.file.inode, dir)
	_ = record.Close()
}

// unregister removes the record of a run.
func unregister(dir string) {
	if os.Remove(registerOf(dir)) == nil {
		_ = os.Remove(register) // unless other runs have one
	}
}

// detachForgotten detaches the loop devices of runs without a directory.
func detachForgotten() (left []Leftover, err error) {
	records, err := os.ReadDir(register)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for loop devices of runs: %w", err)
	}
	var failed []error
	for _, r := range records {
		one, err := detachRecorded(filepath.Join(register, r.Name()))
		if err != nil {
			failed = append(failed, err)
		}
		if one.Detached != nil {
			left = append(left, one)
		}
	}
	return left, errors.Join(failed...)
}

// detachRecorded detaches the loop devices of one record, if the run's directory no longer exists.
func detachRecorded(record string) (left Leftover, err error) {
	text, err := os.Open(record)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return left, nil // of another user, or removed meanwhile
	}
	if err != nil {
		return left, fmt.Errorf("look for loop devices of runs: %w", err)
	}
	defer text.Close()
	left.Before = true
	for lines := bufio.NewScanner(text); lines.Scan(); {
		var s shown
		if n, _ := fmt.Sscanf(lines.Text(), registered, &s.device, &s.file.device, &s.file.inode, &left.Dir); n < 4 {
			continue // a killed run did not finish the line
		}
		if _, err := os.Lstat(outermostRun(left.Dir)); !errors.Is(err, fs.ErrNotExist) {
			return left, nil // the run's directory shows it
		}
		freed, err := detachLoop(s.device, func(f file, backing string) bool {
			return f == s.file && (strings.HasSuffix(backing, deleted) || !isMounted(f.device))
		})
		if err != nil {
			return left, err
		}
		if freed {
			left.Detached = append(left.Detached, s.device)
		}
	}
	unregister(left.Dir)
	return left, nil
}

// outermostRun returns the first directory of a run in a path. Runs in memory are in the directory
// of another run, on a file system that only one process sees.
func outermostRun(dir string) string {
	names := strings.Split(dir, "/")
	if first := slices.IndexFunc(names, runName().MatchString); first >= 0 {
		return strings.Join(names[:first+1], "/")
	}
	return dir
}
