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
	number int // of the line that was read last, from 1
	at     int64
}

// newScanner reads ahead so many bytes.
func newScanner(from io.Reader, ahead int, lines *lineReader, most int) *scanner {
	return &scanner{from: bufio.NewReaderSize(from, ahead), lines: lines, most: most}
}

// How far is read ahead: of a whole file, of a chunk, of a line.
const (
	aheadInFile  = 1 << 20
	aheadInChunk = 1 << 16
	aheadInLine  = 1 << 12
)

// scanned is a line of a trace.
type scanned struct {
	facts
	number   int
	from, to int64  // where it begins and ends
	problem  string // why it is no event
	isEmpty  bool
	beyond   int // this and all that follow are left out: so many events have been read
}

func (l *scanned) isOne() bool { return l.problem == "" && !l.isEmpty && l.beyond == 0 }

// found notes an error that shows that a line is no event.
func (l *scanned) found(err error) {
	if err != nil {
		l.problem = "is no event of a trace: " + err.Error()
	}
}

// next reads a line. What it returns is valid until it reads the next one, of which there is one if there are more.
func (s *scanner) next(into *scanned) (raw []byte, more bool, err error) {
	s.number++
	*into = scanned{number: s.number, from: s.at, to: s.at}
	if s.events >= s.most {
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

// line reads up to the end of a line. Of one that is too long it keeps only so much that this shows.
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
