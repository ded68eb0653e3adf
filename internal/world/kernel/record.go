package kernel

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"time"
)

type eventKind uint8

const (
	eventSpawn eventKind = iota
	eventResume
	eventChoice
	eventCrash
	eventNote
	eventAnswer
	eventOutside
)

func (k eventKind) String() string {
	return [...]string{"start of", "step of", "choice", "crash of", "note", "answer", "news:"}[k]
}

// hash is the FNV-1a hash of scheduling events. It adds numbers and texts one word at a time.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h *hash) mix(v uint64) {
	// The multiplication spreads bits only upwards, so the rotation moves them down.
	*h = hash(bits.RotateLeft64((uint64(*h)^v)*1099511628211, 32))
}

func (h *hash) text(s string) {
	for ; len(s) >= 8; s = s[8:] {
		h.mix(binary.LittleEndian.Uint64([]byte(s)))
	}
	for i := range len(s) {
		*h = (*h ^ hash(s[i])) * 1099511628211
	}
}

func (k *Kernel) record(kind eventKind, n int, words ...string) {
	k.hash.mix(uint64(kind)<<56 ^ uint64(n)<<32 ^ uint64(k.now))
	if kind == eventNote || kind == eventSpawn || kind >= eventAnswer {
		for _, word := range words {
			k.hash.text(word)
		}
	}
	if r := k.opts.Recorder; r != nil {
		if err := r.event(Event{kind, n, k.now, strings.Join(words, ""), k.hash}); err != nil {
			k.fail(err)
		}
	}
}

// Compares reports whether the run is recorded or compared, so that RecordAnswer has an effect.
func (k *Kernel) Compares() bool { return k.opts.Recorder != nil }

// RecordAnswer records an outside program's answer to a question. If two runs first differ in the
// answers to the same question, the simulation is not the cause.
func (k *Kernel) RecordAnswer(question, answer string) {
	k.record(eventAnswer, 0, question, ": ", answer)
}

// RecordOutside records an unrequested event outside the simulation, such as the end of a program.
// If it happens in only one of two runs, the simulation is not the cause of the difference either.
func (k *Kernel) RecordOutside(what string) { k.record(eventOutside, 0, what) }

// LetClockDecide records that outside events depend on the real clock from now on.
func (k *Kernel) LetClockDecide(why string) {
	if k.opts.Recorder != nil {
		k.opts.Recorder.clock = why
	}
}

// Event is one scheduling event of a run.
type Event struct {
	kind eventKind
	n    int
	at   time.Duration
	what string
	hash hash
}

func (e Event) String() string {
	switch e.kind {
	case eventNote, eventAnswer, eventOutside:
		return fmt.Sprintf("at %v: %s", e.at, e.what)
	case eventChoice:
		return fmt.Sprintf("at %v: choice of alternative %d", e.at, e.n)
	default:
		return fmt.Sprintf("at %v: %v %s", e.at, e.kind, e.what)
	}
}

// Recorder records the scheduling events of a run. In a second run, it compares them and stops the
// run at the first difference.
type Recorder struct {
	events  []Event // the events of a run that is not compared
	against []Event
	seen    int
	compare bool
	parted  *Divergence
	clock   string // the reason why the real clock decides; empty if it does not
}

// Against returns a recorder that compares a new run with the recorded one.
func (r *Recorder) Against() *Recorder { return &Recorder{against: r.events, compare: true} }

// Events returns the number of events so far.
func (r *Recorder) Events() int { return r.seen }

// Divergence is the first difference of two runs that should be equal.
type Divergence struct {
	// Outside means that the driver, or another program, behaved differently, not the simulation.
	Outside bool
	// First and Second are the events at that point; "the end" if a run has ended.
	First, Second string
	// Clock is the reason why the driver's behaviour may depend on the real clock; empty if there
	// is no reason.
	Clock string
	event int
}

func (d *Divergence) Error() string {
	who := "csisim is not deterministic: the runs differ from event %d on"
	if d.Outside {
		who = "the driver behaved differently in two runs with the same calls: they differ from event %d on"
	}
	if d.Clock != "" {
		who += ", after " + d.Clock
	}
	return fmt.Sprintf(who+"\n  first run:  %s\n  second run: %s", d.event, d.First, d.Second)
}

// end represents an event after the last one.
const end = "the end"

// diverge describes the difference of the runs. first or second is nil if a run has ended.
func (r *Recorder) diverge(i int, first, second *Event) *Divergence {
	d := &Divergence{First: end, Second: end, Clock: r.clock, event: i + 1}
	if first != nil {
		d.First, d.Outside = first.String(), first.kind == eventOutside
	}
	if second != nil {
		d.Second = second.String()
		d.Outside = d.Outside || second.kind == eventOutside
	}
	if first != nil && second != nil && first.kind == eventAnswer && second.kind == eventAnswer {
		d.Outside = first.question() == second.question()
	}
	return d
}

// question returns the question of an answer.
func (e *Event) question() string {
	question, _, _ := strings.Cut(e.what, ": ")
	return question
}

// Err returns the first difference of the second run, including an earlier end.
func (r *Recorder) Err() error {
	if r.parted != nil {
		return r.parted
	}
	if i := r.seen; r.compare && i < len(r.against) {
		return r.diverge(i, &r.against[i], nil)
	}
	return nil
}

func (r *Recorder) event(e Event) error {
	i := r.seen
	r.seen++
	switch {
	case !r.compare:
		r.events = append(r.events, e)
		return nil
	case r.parted != nil:
		return nil
	case i >= len(r.against):
		r.parted = r.diverge(i, nil, &e)
	case r.against[i].hash != e.hash:
		r.parted = r.diverge(i, &r.against[i], &e)
	default:
		return nil
	}
	return r.parted
}
