package view

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// scanner reads the lines of a trace one after the other.
type scanner struct {
	from   *bufio.Reader
	lines  *lineReader
	most   int // events
	events int
	number int // number of the line that was read last, from 1
	at     int64
}

// newScanner returns a scanner that reads ahead the given number of bytes.
func newScanner(from io.Reader, ahead int, lines *lineReader, most int) *scanner {
	return &scanner{from: bufio.NewReaderSize(from, ahead), lines: lines, most: most}
}

// The sizes of the read-ahead: for a whole file, for a chunk, for a line.
const (
	aheadInFile  = 1 << 20
	aheadInChunk = 1 << 16
	aheadInLine  = 1 << 12
)

// scanned is a line of a trace.
type scanned struct {
	facts
	number   int
	from, to int64  // its offsets
	problem  string // the reason why it is not an event
	isEmpty  bool
	// If it is not 0, this line and the following ones are left out, because this number of events
	// has been read.
	beyond int
}

func (l *scanned) isOne() bool { return l.problem == "" && !l.isEmpty && l.beyond == 0 }

// found records the error of a line that is not an event.
func (l *scanned) found(err error) {
	if err != nil {
		l.problem = "is no event of a trace: " + err.Error()
	}
}

// next reads a line. Its result is valid until the next call. more reports whether another line
// follows.
func (s *scanner) next(into *scanned) (raw []byte, more bool, err error) {
	s.number++
	*into = scanned{number: s.number, from: s.at, to: s.at}
	if s.events >= s.most {
		if _, err := s.from.Peek(1); err != nil { // the trace ends here
			into.isEmpty = true
			return nil, false, ignored(err, io.EOF)
		}
		into.beyond = s.events
		return nil, false, nil
	}
	line, err := s.line()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	into.to = s.at
	raw = bytes.TrimSpace(line)
	s.read(raw, err != nil, into)
	if into.isOne() && !into.K.IsState() {
		s.events++
	}
	return raw, err == nil, nil
}

// ignored returns an error unless it is the one to ignore.
func ignored(err, unless error) error {
	if errors.Is(err, unless) {
		return nil
	}
	return err
}

// line reads up to the end of a line. It keeps only the beginning of an overlong line.
func (s *scanner) line() (line []byte, err error) {
	line, err = s.from.ReadSlice('\n')
	s.at += int64(len(line))
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	for line = bytes.Clone(line); errors.Is(err, bufio.ErrBufferFull); {
		var part []byte
		part, err = s.from.ReadSlice('\n')
		s.at += int64(len(part))
		if len(line) <= longestLine {
			line = append(line, part...)
		}
	}
	return line, err
}

func (s *scanner) read(line []byte, isLast bool, into *scanned) {
	switch {
	case len(line) == 0:
		into.isEmpty = true
		return
	case len(line) > longestLine:
		into.problem = "is longer than 16 MiB and left out"
		return
	}
	err := s.lines.facts(line, &into.facts)
	switch {
	case errors.Is(err, errNoWaits):
		into.found(err)
	case err != nil && isLast:
		into.problem = "is cut off: the trace was not written to its end"
	case err != nil:
		into.problem = "is no JSON object: " + err.Error()
	case into.K == "":
		into.problem = "has no kind (field k) and is no event"
	}
}
