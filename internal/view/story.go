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

// Link is an event of a chain of causes, and what it has to do with its end.
type Link struct {
	Seq uint64 `json:"seq"`
	Why string `json:"why"`
}

// story keeps of a trace what explains how something came about.
type story struct {
	parts  []part      // in their order
	causes [][2]uint64 // events that have a cause, in their order, and that
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

// undoes are the calls that take away what others have made.
var undoes = map[string]string{
	"DeleteVolume": "CreateVolume", "DeleteSnapshot": "CreateSnapshot", "ControllerUnpublishVolume": "ControllerPublishVolume",
	"NodeUnstageVolume": "NodeStageVolume", "NodeUnpublishVolume": "NodePublishVolume",
}

// changing are the calls that make or take away something.
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

// find is the event of a number, -1 if it explains nothing.
func (s *story) find(seq uint64) int {
	at, ok := slices.BinarySearchFunc(s.parts, seq, func(t part, seq uint64) int { return cmp.Compare(t.seq, seq) })
	if !ok {
		return -1
	}
	return at
}

// causeOf is the cause of an event, 0 if it has none.
func (s *story) causeOf(seq uint64) uint64 {
	at, ok := slices.BinarySearchFunc(s.causes, seq, func(c [2]uint64, seq uint64) int { return cmp.Compare(c[0], seq) })
	if !ok {
		return 0
	}
	return s.causes[at][1]
}

// longest is how many events a chain has.
const longest = 9

// few is how many events are too few to explain anything.
const few = 4

// chain is the shortest explanation of an event: what the user did, what made the thing that it is about, what went
// wrong meanwhile, and the call that should have ended well. further are events that others hold to be part of it.
func (s *story) chain(end uint64, further []uint64) []Link {
	c := &chain{story: s, why: map[uint64]string{}}
	last := s.find(end)
	if last < 0 {
		for _, seq := range further {
			c.add(seq, "")
		}
		return c.links()
	}
	culprit := s.culprit(last)
	if culprit != last {
		c.add(s.parts[last].seq, map[bool]string{true: "reports it", false: "found after it"}[s.parts[last].kind == trace.KubeEvent])
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

// culprit is the call in which an event was found, or whose failure it reports; itself if there is none.
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

// near is how many causes lie at most between a failed call and the warning that reports it.
const near = 8

// reported is the failed call that a warning reports, the warning itself if none is near.
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

// maker is the call that made what another was to take away, -1 for none.
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

// attempts adds the first attempt of a call that failed again and again, and the last call for its volume that
// succeeded. It returns the first attempt.
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

// between adds what the user did and what else failed, the newest first: before the thing was made only what led to that.
func (c *chain) between(from, culprit, to int) {
	parts := c.story.parts
	for i := to - 1; i > from && len(c.why) < longest-1; i-- {
		switch t := parts[i]; {
		case t.kind == trace.Step && isDeed(t.text):
			c.add(t.seq, "")
		case t.kind == trace.FaultFired && !c.isSaid(i), t.kind == trace.AnswerLost, t.kind == trace.Died:
			c.add(t.seq, "meanwhile")
		case t.kind == trace.Call && t.failed && t.volume == parts[culprit].volume && t.volume != 0 && t.method != parts[culprit].method:
			c.add(t.seq, "failed before")
		}
	}
	for i := from - 1; i >= 0; i-- {
		if parts[i].kind == trace.Step && isDeed(parts[i].text) {
			c.add(parts[i].seq, "")
			return
		}
	}
}

// isSaid reports whether a fault is what the step before it does.
func (c *chain) isSaid(at int) bool {
	if at == 0 {
		return false
	}
	before := c.story.parts[at-1]
	return before.kind == trace.Step && isDeed(before.text) || before.kind == trace.FaultFired && before.node == c.story.parts[at].node
}

// isDeed reports whether a step does something, and does not only wait or look.
func isDeed(step string) bool {
	word, _, _ := strings.Cut(step, " ")
	return !slices.Contains([]string{"wait", "settle", "expect", "observed:", "advance", "ledger"}, strings.TrimSuffix(word, ":"))
}

// links are the chosen events in their order.
func (c *chain) links() []Link {
	var all []Link
	for seq, why := range c.why {
		all = append(all, Link{seq, why})
	}
	slices.SortFunc(all, func(a, b Link) int { return int(int64(a.Seq) - int64(b.Seq)) })
	return all
}
