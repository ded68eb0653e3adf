package reenact

import (
	"path"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// answers are successive equal answers of a driver to one call.
type answers struct {
	method, node, driver string
	code, message        string
	took                 time.Duration // of the first one
	hangs                bool
	times                int
	// after is the end of the previous call, or the beginning of the story. The fault begins there.
	after time.Duration
	first time.Duration
}

// isPlain reports whether the driver answered OK immediately, like the mock itself.
func (a *answers) isPlain() bool { return a.code == "" && !a.hangs && a.took < slow }

// slow is the duration from which the scenario delays the answer of a call.
const slow = time.Second

// place identifies the calls that a fault affects.
type place struct{ method, node, driver string }

// script is the behaviour of the drivers.
type script struct {
	all     []*answers
	current map[place]*answers
	ended   map[place]time.Duration
	// fromCalls are the calls that the trace contains as calls, and not only as messages.
	fromCalls map[place]bool
}

func newScript() *script {
	return &script{current: map[place]*answers{}, ended: map[place]time.Duration{}, fromCalls: map[place]bool{}}
}

// add adds an answer.
func (s *script) add(at place, a answers, end time.Duration) {
	last := s.current[at]
	isSame := last != nil && last.code == a.code && last.hangs == a.hangs && last.isPlain() == a.isPlain()
	if isSame && (a.code != "" || a.hangs || a.isPlain()) {
		last.times++
	} else {
		a.method, a.node, a.driver, a.times, a.after = at.method, at.node, at.driver, 1, s.ended[at]
		s.current[at] = &a
		s.all = append(s.all, &a)
	}
	s.ended[at] = max(s.ended[at], end)
}

// isLast reports whether no other answer to these calls follows.
func (s *script) isLast(a *answers) bool { return s.current[place{a.method, a.node, a.driver}] == a }

// call adds the answer of a call.
func (s *script) call(l *trace.Line, node string) {
	at := place{path.Base(l.M), node, l.Driver}
	s.fromCalls[at] = true
	took := time.Duration(l.Ms) * time.Millisecond
	a := answers{code: l.Code, message: l.Msg, took: took, first: l.At()}
	switch {
	case l.Code == "DeadlineExceeded" && took >= slow:
		a.code, a.message, a.hangs = "", "", true
	case l.Code == "" && l.Resp == nil && !strings.HasPrefix(fields.Text(l.Obj, "answer"), "not logged"):
		a.hangs = true
	}
	s.add(at, a, l.At()+took)
}
