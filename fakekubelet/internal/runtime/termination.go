package runtime

import (
	"bytes"
	"io"
	"os"

	corev1 "k8s.io/api/core/v1"
)

// How much of a termination message is kept, in bytes, and of a log that takes its place, in bytes and lines.
const (
	maxMessage  = 4096
	maxLog      = 2048
	maxLogLines = 80
)

// message is what the container says of its end: in its termination log or, where it may stand for that, at the end
// of what it wrote.
func (c *Program) message(i *Instance) string {
	if i.termination == "" {
		return ""
	}
	text, err := c.runtime.options.Machine.ReadFile(i.termination)
	if err == nil && len(text) > 0 {
		return string(text[:min(len(text), maxMessage)])
	}
	if c.spec.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError || i.Code == 0 {
		return ""
	}
	return logEnd(i.Log)
}

// logEnd is the end of a log; empty if it cannot be read.
func logEnd(log string) string {
	f, err := os.Open(log)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > maxLog {
		_, err = f.Seek(-maxLog, io.SeekEnd)
		if err != nil {
			return ""
		}
	} else if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	text, _ := io.ReadAll(f)
	lines := bytes.SplitAfter(text, []byte("\n"))
	if n := len(lines); n > 0 && len(lines[n-1]) == 0 {
		lines = lines[:n-1]
	}
	return string(bytes.Join(lines[max(0, len(lines)-maxLogLines):], nil))
}
