package machine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// StampsOf is the file with the times of a log's lines: for each line its offset in the log
// and when it began to be written, in RFC 3339 with nanoseconds.
func StampsOf(log string) string { return log + ".times" }

// drainPatience is how long the rest of a program's output may take to come after its end.
const drainPatience = time.Second

// stamped writes what a program writes to its log, and the time of each line beside it. It
// takes the place of the log as the program's output.
func (p *Process) stamped(cmd *exec.Cmd, began time.Time) error {
	start := time.Now()
	now := func() time.Time { return began.Add(time.Since(start)) }
	log := cmd.Stdout.(*os.File)
	stamps, err := os.OpenFile(StampsOf(log.Name()), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	from, to, err := os.Pipe()
	if err != nil {
		_ = stamps.Close()
		return err
	}
	cmd.Stdout, cmd.Stderr = to, to
	p.drained = make(chan struct{})
	go func() {
		defer close(p.drained)
		defer log.Close()
		defer stamps.Close()
		defer from.Close()
		copyStamped(log, stamps, from, now)
	}()
	return nil
}

// copyStamped copies until nobody writes any more. A log that cannot be written is cut off
// there, as a full disk does to any.
func copyStamped(log, stamps io.Writer, from io.Reader, now func() time.Time) {
	buffer := make([]byte, 32<<10)
	offset, begins := int64(0), true
	for {
		n, err := from.Read(buffer)
		at := now().UTC().Format(time.RFC3339Nano)
		for text := buffer[:n]; len(text) > 0; {
			if begins {
				_, _ = fmt.Fprintf(stamps, "%d %s\n", offset, at)
			}
			line := text
			if end := bytes.IndexByte(text, '\n'); end >= 0 {
				line = text[:end+1]
			}
			begins = line[len(line)-1] == '\n'
			offset += int64(len(line))
			text = text[len(line):]
		}
		if _, failed := log.Write(buffer[:n]); err != nil || failed != nil {
			return
		}
	}
}

// drain waits for the rest of the output.
func (p *Process) drain() {
	if p.drained == nil {
		return
	}
	select {
	case <-p.drained:
	case <-time.After(drainPatience): // somebody outside the group holds the pipe
	}
}
