package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// openLogs opens the files for the program's output, new ones for each instance.
func (p *Process) openLogs(cmd *exec.Cmd, c Command) error {
	if c.Attached != nil {
		return p.openConsole(cmd, c, nil)
	}
	if c.Stdout != "" {
		f, err := createLog(c.Stdout)
		if err != nil {
			return err
		}
		cmd.Stdout, p.Stdout = f, f.Name()
	}
	if c.Stderr == "" {
		return nil
	}
	if c.Stderr == c.Stdout {
		cmd.Stderr, p.Stderr = cmd.Stdout, p.Stdout
		if !c.Began.IsZero() {
			return p.logLines(cmd, c)
		}
		return nil
	}
	f, err := createLog(c.Stderr)
	if err != nil {
		return err
	}
	cmd.Stderr, p.Stderr = f, f.Name()
	return nil
}

// logLines puts csisim between the program and its log, to record the time of each line and to
// permit clients to attach.
func (p *Process) logLines(cmd *exec.Cmd, c Command) error {
	log := cmd.Stdout.(*os.File)
	lines, err := newLineLog(log, c.Began)
	if err != nil {
		return err
	}
	if err := p.openConsole(cmd, c, lines); err != nil {
		lines.end()
		return err
	}
	return nil
}

// createLog creates driver.log; if it already exists, driver.2.log, and so on.
func createLog(name string) (*os.File, error) {
	ext := filepath.Ext(name)
	try := name
	for n := 2; ; n++ {
		f, err := os.OpenFile(try, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
		try = fmt.Sprintf("%s.%d%s", strings.TrimSuffix(name, ext), n, ext)
	}
}

// closeLogs closes csisim's copies of the files, because the program has its own.
func closeLogs(cmd *exec.Cmd) {
	for _, w := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f, ok := w.(*os.File); ok {
			_ = f.Close() // a second close of a shared file is harmless
		}
	}
}
