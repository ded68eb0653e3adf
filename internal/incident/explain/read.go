package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/csisim/csisim/internal/world/trace"
)

// longest is the longest line of a trace that is read.
const longest = 16 << 20

// Read reads a trace in JSON Lines.
func Read(from io.Reader) (*Story, error) {
	s := newStory()
	scanner := bufio.NewScanner(from)
	scanner.Buffer(make([]byte, 1<<16), longest)
	n := 0
	for scanner.Scan() {
		text := bytes.TrimSpace(scanner.Bytes())
		if n++; len(text) == 0 {
			continue
		}
		if err := s.line(text); err != nil {
			return nil, fmt.Errorf("line %d is not an event of a trace: %w", n, err)
		}
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if n == 0 {
		return nil, errors.New("there is no event in it")
	}
	return s, nil
}

// errNoKind is the error for JSON that is no event.
var errNoKind = errors.New("it has no kind (field k)")

func (s *Story) line(text []byte) error {
	var l trace.Line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.K == "" {
		return errNoKind
	}
	s.time(&l)
	s.Add(&l)
	return nil
}

// time notes the time of a line.
func (s *Story) time(l *trace.Line) {
	at := l.At()
	if real, err := time.Parse(time.RFC3339, l.Real); err == nil && s.Began.IsZero() {
		s.Began = real.Add(-at)
	}
	s.Ended = max(s.Ended, at+time.Duration(l.Ms)*time.Millisecond)
}

// Add adds an event to the story.
func (s *Story) Add(l *trace.Line) {
	if l.From != "" && l.K != trace.KubeEvent { // an Event is not the log of its program
		s.Sources[l.From]++
		if l.Node != "" {
			s.OnNode[[2]string{l.From, l.Node}]++
		}
	}
	switch l.K {
	case trace.Log:
		s.log(l)
	case trace.KubeEvent:
		s.event(l)
	case trace.Call:
		s.call(l)
	case trace.API:
		s.change(l)
	}
}
