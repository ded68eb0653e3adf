package machine

import (
	"errors"
	"os/exec"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct{ Width, Height uint16 }

// openTerminal gives the program a controlling terminal.
func (k *console) openTerminal(cmd *exec.Cmd, _ Command) error {
	own, its, err := pty.Open()
	if err != nil {
		return err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = its, its, its
	cmd.SysProcAttr.Setpgid = false // the leader of a session leads a group, too
	cmd.SysProcAttr.Setsid, cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, true, 0
	k.input, k.terminal, k.from = own, own, append(k.from, own)
	return nil
}

// resize follows the sizes of an attached client's terminal.
func (k *console) resize(sizes <-chan TerminalSize) {
	for size := range sizes {
		if k.setSize(size) != nil {
			return // the program has ended
		}
	}
}

// setSize keeps the terminal open meanwhile, because it is closed when the program ends.
func (k *console) setSize(size TerminalSize) error {
	conn, err := k.terminal.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = conn.Control(func(fd uintptr) {
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: size.Height, Col: size.Width})
	})
	return errors.Join(err, failed)
}
