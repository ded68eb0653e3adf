package machine

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// Stdio is what a program's standard streams are connected to while it runs.
type Stdio struct {
	In  io.Reader // nil: it reads nothing
	Out io.Writer // nil: discarded
	Err io.Writer // nil: discarded. A terminal writes all to Out
	// Resize has the sizes that a terminal comes to have; it may be nil.
	Resize <-chan TerminalSize
}

// console is the standard streams of a program to which others can be attached.
type console struct {
	input    *os.File // what is written here the program reads; nil if it reads nothing
	once     bool     // its input ends with that of the first who gives it some
	terminal *os.File // nil without
	log      *lineLog // nil without
	from     []*os.File

	lock     sync.Mutex
	attached []*attachment
	ended    chan struct{} // closed when nothing more comes
}

// attachment is somebody who gets what the program writes.
type attachment struct {
	to   [2]io.Writer // of standard output and of standard error
	gone chan struct{}
}

// openConsole makes the streams of a program that is about to start. They end when all of
// the program's ends of them are closed.
func (p *Process) openConsole(cmd *exec.Cmd, c Command, log *lineLog) error {
	k := &console{once: c.StdinOnce, log: log, ended: make(chan struct{})}
	open := k.openPipes
	if c.Terminal {
		open = k.openTerminal
	}
	if err := open(cmd, c); err != nil {
		return err
	}
	if c.Attached != nil {
		k.attach(*c.Attached, true)
	}
	p.console = k
	go k.copyAll()
	return nil
}

func (k *console) openPipes(cmd *exec.Cmd, c Command) error {
	if c.Stdin || c.Attached != nil && c.Attached.In != nil {
		from, to, err := os.Pipe()
		if err != nil {
			return err
		}
		cmd.Stdin, k.input = from, to
	}
	for _, stream := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		from, to, err := os.Pipe()
		if err != nil {
			return errors.Join(err, k.close())
		}
		*stream = to
		k.from = append(k.from, from)
	}
	return nil
}

// close closes csisim's own ends.
func (k *console) close() error {
	var failed []error
	if k.input != nil {
		failed = append(failed, k.input.Close())
	}
	for _, f := range k.from {
		if f != k.input {
			failed = append(failed, f.Close())
		}
	}
	return errors.Join(failed...)
}

// copyAll delivers what the program writes until nobody can write any more.
func (k *console) copyAll() {
	var streams sync.WaitGroup
	for stream, from := range k.from {
		streams.Go(func() { k.copy(stream, from) })
	}
	streams.Wait()
	if k.log != nil {
		k.log.end()
	}
	_ = k.close() // all was read
	close(k.ended)
}

func (k *console) copy(stream int, from *os.File) {
	buffer := make([]byte, 32<<10)
	for late := false; ; {
		n, err := from.Read(buffer)
		if n > 0 {
			k.deliver(stream, buffer[:n])
			late = false
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded) && !late: // it may have passed while the text before was delivered
			late = true
			_ = from.SetReadDeadline(time.Now().Add(drainPatience / 10))
		default:
			return
		}
	}
}

// deliver gives text to the log and to all that are attached. Who cannot take it is gone.
func (k *console) deliver(stream int, text []byte) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.log != nil {
		k.log.write(stream, text)
	}
	k.attached = slices.DeleteFunc(k.attached, func(a *attachment) bool {
		if a.to[stream] == nil {
			return false
		}
		_, err := a.to[stream].Write(text)
		if err != nil {
			close(a.gone)
		}
		return err != nil
	})
}

// attach connects streams. With last the program's input ends with theirs.
func (k *console) attach(s Stdio, last bool) *attachment {
	a := &attachment{to: [2]io.Writer{s.Out, s.Err}, gone: make(chan struct{})}
	k.lock.Lock()
	k.attached = append(k.attached, a)
	k.lock.Unlock()
	if s.In != nil && k.input != nil {
		go k.feed(s.In, last)
	}
	if s.Resize != nil && k.terminal != nil {
		go k.resize(s.Resize)
	}
	return a
}

func (k *console) detach(a *attachment) {
	k.lock.Lock()
	defer k.lock.Unlock()
	k.attached = slices.DeleteFunc(k.attached, func(other *attachment) bool { return a == other })
}

// feed gives the program what somebody writes, until either ends.
func (k *console) feed(from io.Reader, last bool) {
	_, _ = io.Copy(k.input, from) // a program that has ended reads no more
	if last && k.terminal == nil {
		_ = k.input.Close() // also if the program has ended meanwhile
	}
}

// expire ends the reading of a program that has ended, once nothing comes any more: one that
// it has started may hold its streams.
func (k *console) expire() {
	for _, f := range k.from {
		_ = f.SetReadDeadline(time.Now().Add(drainPatience))
	}
	if k.log == nil {
		<-k.ended
		return
	}
	select {
	case <-k.ended:
	case <-time.After(2 * drainPatience): // somebody who is attached takes nothing
	}
}

// ErrNotAttachable is returned for a program whose streams are files.
var ErrNotAttachable = errors.New("its output goes to a file: nobody can be attached")

// Attach connects streams with those of the program: what it writes from now on, and what it
// is to read, if it was started to read anything. It returns when the program has written its
// last, when the streams cannot be written to any more, or when ctx is done.
func (p *Process) Attach(ctx context.Context, s Stdio) error {
	k := p.console
	if k == nil {
		return ErrNotAttachable
	}
	a := k.attach(s, k.once)
	defer k.detach(a)
	select {
	case <-k.ended:
	case <-a.gone:
	case <-ctx.Done():
	}
	return nil
}
