package view

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Link is an event of a chain of causes, and its relation to the end of the chain.
type Link struct {
	Seq uint64 `json:"seq"`
	Why string `json:"why"`
}

// FoundAfter is the relation of a finding to the call before it.
const FoundAfter = "found after it"

// story keeps the events of a trace that can explain others.
type story struct {
	parts  []part      // in order
	causes [][2]uint64 // pairs of an event and its cause, in order
}

// part is an event that can be part of an explanation.
type part struct {
	seq          uint64
	kind         trace.Kind
	method, path string
	node, text   string
	volume       int
	failed       bool
	injected     bool             // by a fault
	judged       *verdict.Verdict // nil if the event has none
}

// undoes maps each call to the call that it reverts.
var undoes = map[string]string{
	"DeleteVolume": "CreateVolume", "DeleteSnapshot": "CreateSnapshot", "ControllerUnpublishVolume": "ControllerPublishVolume",
	"NodeUnstageVolume": "NodeStageVolume", "NodeUnpublishVolume": "NodePublishVolume",
}

// changing are the calls that change something.
var changing = func() map[string]bool {
	all := map[string]bool{"ControllerExpandVolume": true, "NodeExpandVolume": true, "ControllerModifyVolume": true}
	for undo, make := range undoes {
		all[undo], all[make] = true, true
	}
	return all
}()

func (s *story) add(l *trace.Line, where string, volume int) {
	if l.Cause != 0 {
		s.causes = appended(s.causes, [2]uint64{l.Seq, l.Cause})
	}
	t := part{seq: l.Seq, kind: l.K, method: path.Base(l.M), path: where, node: l.Node, text: l.Msg, volume: volume, failed: l.Code != "", injected: l.Inj != ""}
	if v, judged := verdict.OfEvent(l.Obj, l.Msg); judged && titles[l.K] != "" {
		t.judged = &v
	}
	switch l.K {
	case trace.Call:
		if changing[t.method] {
			s.parts = appended(s.parts, t)
		}
	case trace.KubeEvent:
		if l.R == "Warning" {
			s.parts = appended(s.parts, t)
		}
	case trace.Step, trace.FaultFired, trace.Violation, trace.AnswerLost, trace.DataLost, trace.Unmounted, trace.Died:
		s.parts = appended(s.parts, t)
	}
}

// find returns the index of the event with a number; -1 if the story does not contain it.
func (s *story) find(seq uint64) int {
	at, ok := slices.BinarySearchFunc(s.parts, seq, func(t part, seq uint64) int { return cmp.Compare(t.seq, seq) })
	if !ok {
		return -1
	}
	return at
}

// causeOf returns the cause of an event; 0 if it has none.
func (s *story) causeOf(seq uint64) uint64 {
	at, ok := slices.BinarySearchFunc(s.causes, seq, func(c [2]uint64, seq uint64) int { return cmp.Compare(c[0], seq) })
	if !ok {
		return 0
	}
	return s.causes[at][1]
}

// longest bounds the events of a chain.
const longest = 9

// few is the number of events below which an explanation also gets the events of other evidence.
const few = 4

// chain returns the shortest explanation of an event. It contains the user's actions, the call that
// created the event's object, the errors in between, and the call that should have succeeded.
// further are events of other evidence.
func (s *story) chain(end uint64, further []uint64) []Link {
	c := &chain{story: s, why: map[uint64]string{}}
	last := s.find(end)
	if last < 0 {
		for _, seq := range slices.Backward(further) {
			c.add(seq, "")
		}
		return c.links()
	}
	culprit := s.culprit(last)
	if culprit != last {
		c.add(s.parts[last].seq, map[bool]string{true: "reports it", false: FoundAfter}[s.parts[last].kind == trace.KubeEvent])
	}
	from := culprit
	if made := s.maker(culprit); made >= 0 {
		c.add(s.parts[made].seq, "makes it")
		from = made
	} else if s.parts[culprit].failed {
		from = c.attempts(culprit)
	}
	c.add(s.parts[culprit].seq, whyOf(s.parts[culprit], culprit == last))
	c.between(from, culprit, last)
	if len(c.why) < few {
		for _, seq := range further {
			c.add(seq, "")
		}
	}
	return c.links()
}

// culprit returns the call in which an event was found, or the failed call that it reports. If
// there is none, it returns the event itself.
func (s *story) culprit(at int) int {
	t := s.parts[at]
	if t.kind == trace.Call {
		return at
	}
	if t.kind == trace.KubeEvent {
		return s.reported(at)
	}
	for i := at - 1; i >= 0 && t.method != "" && t.method != "."; i-- {
		if c := s.parts[i]; c.kind == trace.Call && c.method == t.method && c.node == t.node && (s.causeOf(t.seq) == c.seq || s.causeOf(t.seq) == 0) {
			return i
		}
	}
	return at
}

// near bounds the causes between a failed call and the warning that reports it.
const near = 8

// reported returns the failed call that a warning reports, or the warning itself if no failed call
// is near.
func (s *story) reported(at int) int {
	seq := s.parts[at].seq
	for range near {
		if seq = s.causeOf(seq); seq == 0 {
			break
		}
		if i := s.find(seq); i >= 0 && s.parts[i].kind == trace.Call && s.parts[i].failed {
			return i
		}
	}
	return at
}

// maker returns the call that the given call should have reverted; -1 if there is none.
func (s *story) maker(undo int) int {
	u := s.parts[undo]
	makes, ok := undoes[u.method]
	if !ok {
		return -1
	}
	for i := undo - 1; i >= 0; i-- {
		if m := s.parts[i]; m.kind == trace.Call && m.method == makes && m.volume == u.volume && m.path == u.path && !m.failed {
			return i
		}
	}
	return -1
}

func whyOf(t part, isEnd bool) string {
	switch {
	case isEnd && t.failed:
		return "failed"
	case undoes[t.method] != "" && !t.failed:
		return "should undo it"
	}
	return ""
}

// chain chooses events, each once.
type chain struct {
	story *story
	why   map[uint64]string
}

func (c *chain) add(seq uint64, why string) {
	if was, chosen := c.why[seq]; (!chosen && len(c.why) < longest) || chosen && was == "" {
		c.why[seq] = why
	}
}

// attempts adds the first attempt of a call that failed repeatedly, and the last successful call
// for its volume. It returns the first attempt.
func (c *chain) attempts(failed int) int {
	parts, first, count := c.story.parts, failed, 1
	end := parts[failed]
	for i := failed - 1; i >= 0 && end.volume != 0; i-- {
		t := parts[i]
		if t.kind != trace.Call || t.volume != end.volume {
			continue
		}
		if !t.failed {
			c.add(t.seq, "the last that succeeded")
			break
		}
		if t.method == end.method && t.path == end.path {
			first, count = i, count+1
		}
	}
	if count > 1 {
		c.add(parts[first].seq, fmt.Sprintf("the first of %d attempts", count))
		c.add(end.seq, "the last of them")
	}
	return first
}

// between adds the user's actions and other errors, the newest first. For calls before the object
// was created, it adds only their causes.
func (c *chain) between(from, culprit, to int) {
	parts := c.story.parts
	for i := to - 1; i > from && len(c.why) < longest-1; i-- {
		switch t := parts[i]; {
		case t.kind == trace.Step && isAction(t.text):
			c.add(t.seq, "")
		case t.kind == trace.FaultFired && !c.isSaid(i), t.kind == trace.AnswerLost, t.kind == trace.Died:
			c.add(t.seq, "meanwhile")
		case t.kind == trace.Call && t.failed && t.volume == parts[culprit].volume && t.volume != 0 && t.method != parts[culprit].method:
			c.add(t.seq, "failed before")
		}
	}
	for i := from - 1; i >= 0; i-- {
		if parts[i].kind == trace.Step && isAction(parts[i].text) {
			c.add(parts[i].seq, "")
			return
		}
	}
}

// isSaid reports whether the previous step injects the fault.
func (c *chain) isSaid(at int) bool {
	if at == 0 {
		return false
	}
	before := c.story.parts[at-1]
	return before.kind == trace.Step && isAction(before.text) || before.kind == trace.FaultFired && before.node == c.story.parts[at].node
}

// isAction reports whether a step changes something, instead of only waiting or checking.
func isAction(step string) bool {
	word, _, _ := strings.Cut(step, " ")
	return !slices.Contains([]string{"wait", "settle", "expect", "observed:", "advance", "ledger"}, strings.TrimSuffix(word, ":"))
}

// links returns the chosen events in order.
func (c *chain) links() []Link {
	var all []Link
	for seq, why := range c.why {
		all = append(all, Link{seq, why})
	}
	slices.SortFunc(all, func(a, b Link) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return all
}
