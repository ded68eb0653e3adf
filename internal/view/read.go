package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// longestLine is the longest line of a trace that is read; longer lines are left out.
const longestLine = 16 << 20

// mostEvents bounds the events of a trace that are read: browsers cannot show larger pages.
const mostEvents = 2_000_000

// mentioned bounds the unreadable lines that are named.
const mentioned = 3

// Read adds the readable lines of a trace in JSON Lines, and returns a sentence for each unreadable
// one. The error is for a trace that cannot be read at all.
func (e *Encoder) Read(from io.Reader) (problems []string, err error) {
	s := newScanner(from, aheadInFile, &e.lines, e.most)
	var faults faults
	var l scanned
	for more := true; more; {
		var raw []byte
		if raw, more, err = s.next(&l); err != nil {
			return faults.problems, err
		}
		if l.isOne() {
			l.found(e.add(&l.facts, raw))
		}
		faults.note(&l)
	}
	return faults.all(&e.reading)
}

// faults collects the problems of a trace.
type faults struct {
	problems []string
	bad      int // lines
}

// note records the problem of a line, if there is one.
func (p *faults) note(l *scanned) {
	if l.beyond > 0 {
		p.problems = append(p.problems, fmt.Sprintf("Only the first %s are shown: line %d and all that follow are left out. Cut the trace to see them.", plural.Of(l.beyond, "event"), l.number))
		return
	}
	if l.problem == "" {
		return
	}
	if p.bad++; p.bad <= mentioned {
		p.problems = append(p.problems, fmt.Sprintf("Line %d %s.", l.number, l.problem))
	}
}

// all returns the problems as sentences, after the trace was read. It returns an error if the trace
// is empty.
func (p *faults) all(x *reading) ([]string, error) {
	if more := p.bad - mentioned; more > 0 {
		p.problems = append(p.problems, fmt.Sprintf("%s cannot be read either.", plural.Of(more, "further line")))
	}
	if x.events == 0 && p.bad == 0 {
		return nil, errors.New("there is no event in it")
	}
	if x.events == 0 {
		return nil, fmt.Errorf("no line of it is an event of a trace: line 1 %s", problemOf(p.problems))
	}
	return append(p.problems, x.news()...), nil
}

// problemOf returns the first problem without its line.
func problemOf(problems []string) string {
	return string(bytes.TrimSuffix([]byte(problems[0][len("Line 1 "):]), []byte(".")))
}

// kinds are the kinds of events in this version.
var kinds = map[trace.Kind]bool{
	trace.Call: true, trace.API: true, trace.KubeEvent: true, trace.Runtime: true, trace.Files: true, trace.FileChange: true, trace.SystemCall: true, trace.Request: true, trace.Step: true,
	trace.Registration: true, trace.ChoiceMade: true, trace.FaultFired: true, trace.Violation: true, trace.Remark: true, trace.AnswerLost: true,
	trace.DataLost: true, trace.Unmounted: true, trace.Died: true, trace.Log: true,
}

// news returns the kinds of events that this version does not know.
func (x *reading) news() []string {
	var problems []string
	for _, kind := range x.unknown {
		problems = append(problems, fmt.Sprintf("Events of kind %q are of a newer csisim or of another program: they are shown as they are.", kind))
	}
	return problems
}
