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

// Stdio connects a program's standard streams while it runs.
type Stdio struct {
	In  io.Reader // nil: empty
	Out io.Writer // nil: discarded
	Err io.Writer // nil: discarded. A terminal writes everything to Out
	// Resize receives each new size of the terminal; it may be nil.
	Resize <-chan TerminalSize
}

// console holds the standard streams of a program, for clients that attach.
type console struct {
	input    *os.File // csisim writes the program's input here; nil if the program has no input
	once     bool     // the input ends with the input of the first client that provides any
	terminal *os.File // nil without one
	log      *lineLog // nil without
	from     []*os.File

	lock     sync.Mutex
	attached []*attachment
	ended    chan struct{} // closed when the output has ended
}

// attachment is a client that receives the program's output.
type attachment struct {
	to   [2]io.Writer // of standard output and of standard error
	gone chan struct{}
}

// openConsole creates the streams of a program that is about to start. They end when the last copy
// of the program's ends is closed.
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

// copyAll delivers the program's output until no process has its streams open.
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
		case errors.Is(err, os.ErrDeadlineExceeded) && !late:
			// The deadline may have passed while earlier text was delivered.
			late = true
			_ = from.SetReadDeadline(time.Now().Add(drainPatience / 10))
		default:
			return
		}
	}
}

// deliver writes text to the log and to all attached clients. It detaches a client if its stream
// fails.
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

// attach connects streams. If last is set, the program's input ends when the input of these streams
// ends.
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

// feed copies a client's input to the program, until either ends.
func (k *console) feed(from io.Reader, last bool) {
	_, _ = io.Copy(k.input, from) // an ended program does not read
	if last && k.terminal == nil {
		_ = k.input.Close() // also if the program has ended meanwhile
	}
}

// expire ends the reading from an ended program when no more output arrives, because a child may
// still hold its streams.
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
	case <-time.After(2 * drainPatience): // an attached client does not read
	}
}

// ErrNotAttachable is returned for a program that writes its output to files.
var ErrNotAttachable = errors.New("its output goes to a file: clients cannot attach")

// Attach connects streams to those of the program: its output from now on, and its input, if it was
// started with Stdin. It returns when the program's output has ended, when writing to the streams
// fails, or when ctx is done.
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
