package kernel

import (
	"fmt"
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
	eventHeard
)

func (k eventKind) String() string {
	return [...]string{"start of", "step of", "choice", "crash of", "note", "news:"}[k]
}

// hash is FNV-1a over scheduling events.
type hash uint64

func newHash() hash { return 14695981039346656037 }

func (h *hash) mix(v uint64) {
	for range 8 {
		*h = (*h ^ hash(v&0xff)) * 1099511628211
		v >>= 8
	}
}

func (h *hash) text(s string) {
	for i := range len(s) {
		*h = (*h ^ hash(s[i])) * 1099511628211
	}
}

func (k *Kernel) record(kind eventKind, n int, words ...string) {
	k.hash.mix(uint64(kind)<<56 ^ uint64(n)<<32 ^ uint64(k.now))
	if kind == eventNote || kind == eventSpawn || kind == eventHeard {
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

// Compares reports whether the run is recorded, so that Heard is of use.
func (k *Kernel) Compares() bool { return k.opts.Recorder != nil }

// Heard records what a driver, or another program outside, has answered or done: where
// two runs part there, it was not the simulation that made the difference.
func (k *Kernel) Heard(from, what string) {
	k.record(eventHeard, 0, from, ": ", what)
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
	case eventNote, eventHeard:
		return fmt.Sprintf("at %v: %s", e.at, e.what)
	case eventChoice:
		return fmt.Sprintf("at %v: choice of alternative %d", e.at, e.n)
	default:
		return fmt.Sprintf("at %v: %v %s", e.at, e.kind, e.what)
	}
}

// Recorder keeps the scheduling events of a run, or holds a second run against
// them and stops it at the first difference.
type Recorder struct {
	events  []Event
	against []Event
	compare bool
	parted  *Divergence
}

// Against returns a recorder that compares a new run with the recorded one.
func (r *Recorder) Against() *Recorder { return &Recorder{against: r.events, compare: true} }

// Events is the number of events seen so far.
func (r *Recorder) Events() int { return len(r.events) }

// Divergence is where two runs parted that should have been alike.
type Divergence struct {
	// Outside says that the driver, or another program, did not do the same twice; else
	// it was the simulation.
	Outside bool
	// First and Second are what happened there, "the end" where a run was over.
	First, Second string
	event         int
}

func (d *Divergence) Error() string {
	who := "csisim is not deterministic: the runs part at event %d"
	if d.Outside {
		who = "the driver did not do the same twice, csisim did: the runs part at event %d"
	}
	return fmt.Sprintf(who+"\n  first run:  %s\n  second run: %s", d.event, d.First, d.Second)
}

// end stands for an event after the last one.
const end = "the end"

func divergence(i int, first, second *Event) *Divergence {
	d := &Divergence{First: end, Second: end, event: i + 1}
	if first != nil {
		d.First, d.Outside = first.String(), first.kind == eventHeard
	}
	if second != nil {
		d.Second = second.String()
		d.Outside = d.Outside || second.kind == eventHeard
	}
	return d
}

// Err is where a second run parted from the first one, be it that it ended before that.
func (r *Recorder) Err() error {
	if r.parted != nil {
		return r.parted
	}
	if i := len(r.events); r.compare && i < len(r.against) {
		return divergence(i, &r.against[i], nil)
	}
	return nil
}

func (r *Recorder) event(e Event) error {
	i := len(r.events)
	r.events = append(r.events, e)
	switch {
	case !r.compare || r.parted != nil:
		return nil
	case i >= len(r.against):
		r.parted = divergence(i, nil, &e)
	case r.against[i].hash != e.hash:
		r.parted = divergence(i, &r.against[i], &e)
	default:
		return nil
	}
	return r.parted
}
