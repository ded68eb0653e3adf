package machine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

// StampsOf returns the file with the times of a log's lines. For each line it has the offset in the
// log and the time of the write, in RFC 3339 with nanoseconds.
func StampsOf(log string) string { return log + ".times" }

// drainPatience limits the wait for the rest of a program's output after its end.
const drainPatience = time.Second

// longestLine bounds the bytes of an unfinished line that are held back.
const longestLine = 16 << 10

// lineLog is the log of a program's two streams. It contains only complete lines, except for very
// long ones. A second file has the time of each line. The log is truncated if writing fails, for
// example on a full disk.
type lineLog struct {
	log, stamps io.WriteCloser
	now         func() time.Time
	offset      int64
	begun       [2][]byte // the unfinished lines of standard output and standard error
}

// newLineLog makes the log's second file. began is the cluster's time now; it advances by the real
// clock.
func newLineLog(log *os.File, began time.Time) (*lineLog, error) {
	stamps, err := os.OpenFile(StampsOf(log.Name()), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	return &lineLog{log: log, stamps: stamps, now: func() time.Time { return began.Add(time.Since(start)) }}, nil
}

func (l *lineLog) write(stream int, text []byte) {
	text = append(l.begun[stream], text...)
	for {
		end := bytes.IndexByte(text, '\n') + 1
		if end == 0 && len(text) >= longestLine {
			end = longestLine
		}
		if end == 0 {
			break
		}
		l.line(text[:end])
		text = text[end:]
	}
	l.begun[stream] = bytes.Clone(text)
}

// line writes the time first, so that each line in the log has a time.
func (l *lineLog) line(text []byte) {
	_, _ = fmt.Fprintf(l.stamps, "%d %s\n", l.offset, l.now().UTC().Format(time.RFC3339Nano))
	n, _ := l.log.Write(text)
	l.offset += int64(n)
}

// end writes the unfinished lines, when both streams have ended.
func (l *lineLog) end() {
	for _, rest := range l.begun {
		if len(rest) > 0 {
			l.line(rest)
		}
	}
	_ = l.log.Close()
	_ = l.stamps.Close()
}
