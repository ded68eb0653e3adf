package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// lookUp finds the executable and returns its absolute path.
func lookUp(program string) (string, error) {
	found, err := exec.LookPath(program)
	if beside := besideThis(program); errors.Is(err, exec.ErrNotFound) && beside != "" {
		return beside, nil
	}
	switch {
	case err == nil || errors.Is(err, exec.ErrDot):
		return filepath.Abs(found)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR):
		return "", fmt.Errorf("%w: %s: it must be a file with execute permission (chmod +x)", ErrNotExecutable, program)
	case strings.Contains(program, "/"):
		return "", fmt.Errorf("%w: %s: build it first, or correct the path", ErrNotFound, program)
	default:
		return "", fmt.Errorf("%w: %s is not in PATH, nor beside the program that runs: give its path, or add its directory to PATH", ErrNotFound, program)
	}
}

// besideThis returns the executable with that name beside the running program; empty if there is
// none. A build of csisim has the reference driver there.
func besideThis(name string) string {
	own, err := os.Executable()
	if err != nil || strings.Contains(name, "/") {
		return ""
	}
	found, err := exec.LookPath(filepath.Join(filepath.Dir(own), name))
	if err != nil {
		return ""
	}
	return found
}

// explainStart explains mistakes that only the execution of a file reveals.
func explainStart(program string, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("%w: %s is neither a program for this computer nor a script that begins with #!: %w", ErrNotExecutable, program, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: the interpreter or loader of %s, or the working directory, is missing: %w", ErrNotFound, program, err)
	default:
		return err
	}
}
