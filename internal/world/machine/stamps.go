package machine

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

// StampsOf is the file with the times of a log's lines: for each line its offset in the log
// and when it was written, in RFC 3339 with nanoseconds.
func StampsOf(log string) string { return log + ".times" }

// drainPatience is how long the rest of a program's output may take to come after its end.
const drainPatience = time.Second

// longestLine is how much of a line is kept back until its end comes.
const longestLine = 16 << 10

// lineLog is the log of a program's two streams. It has whole lines, as long as they are not
// too long, with the time of each in a file beside it. A log that cannot be written is cut
// off there, as a full disk does to any.
type lineLog struct {
	log, stamps io.WriteCloser
	now         func() time.Time
	offset      int64
	begun       [2][]byte // of standard output and standard error, the line that has no end yet
}

// newLineLog makes the log's second file. began is the time of the cluster now; it goes on by
// the real clock.
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

// line writes the time first: a line that is there has one.
func (l *lineLog) line(text []byte) {
	_, _ = fmt.Fprintf(l.stamps, "%d %s\n", l.offset, l.now().UTC().Format(time.RFC3339Nano))
	n, _ := l.log.Write(text)
	l.offset += int64(n)
}

// end writes the lines that have no end, when both streams have ended.
func (l *lineLog) end() {
	for _, rest := range l.begun {
		if len(rest) > 0 {
			l.line(rest)
		}
	}
	_ = l.log.Close()
	_ = l.stamps.Close()
}
