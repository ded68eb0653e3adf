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
)

func (k eventKind) String() string {
	return [...]string{"start of", "step of", "choice", "crash of", "note"}[k]
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
	if kind == eventNote || kind == eventSpawn {
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
	case eventNote:
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
}

// Against returns a recorder that compares a new run with the recorded one.
func (r *Recorder) Against() *Recorder { return &Recorder{against: r.events, compare: true} }

// Events is the number of events seen so far.
func (r *Recorder) Events() int { return len(r.events) }

// Err reports a second run that ended before the first one did.
func (r *Recorder) Err() error {
	if r.compare && len(r.events) < len(r.against) {
		return fmt.Errorf("not deterministic: the second run ended after %d events, the first went on with: %v", len(r.events), r.against[len(r.events)])
	}
	return nil
}

func (r *Recorder) event(e Event) error {
	i := len(r.events)
	r.events = append(r.events, e)
	if !r.compare {
		return nil
	}
	if i >= len(r.against) {
		return fmt.Errorf("not deterministic: the first run ended after %d events, the second went on with: %v", i, e)
	}
	if was := r.against[i]; was.hash != e.hash {
		return fmt.Errorf("not deterministic: the runs part at event %d\n  first run:  %v\n  second run: %v", i+1, was, e)
	}
	return nil
}
