package view

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// between follows the states of a trace, which are between its events: the waits of processes, and
// the changes that caches have not received yet. A page replays them from a checkpoint. A
// checkpoint is written when the states since the last checkpoint are longer than the checkpoint
// itself.
type between struct {
	any    bool // this trace has states
	began  bool // this chunk has states
	waits  map[string]wait
	size   int // size of the current state, in bytes
	since  int // bytes written since the checkpoint
	from   int // the chunk of the checkpoint
	chunks int // number of ended chunks
}

// wait is the reason why a process waits, since a time in ms.
type wait struct {
	reason string
	since  int64
}

// add adds a state of size bytes. If a checkpoint is due, the chunk begins with it.
func (b *between) add(f *facts, size int) (checkpoint []byte) {
	if f.K == trace.Waits {
		checkpoint = b.checkpoint()
		b.learn(f.T, f.waits)
		b.since += size
	}
	b.any, b.began = true, true
	return checkpoint
}

func (b *between) learn(at int64, waits []waiter) {
	if b.waits == nil {
		b.waits = map[string]wait{}
	}
	for _, w := range waits {
		if before, known := b.waits[w.process]; known {
			b.size -= len(w.process) + len(before.reason)
			delete(b.waits, w.process)
		}
		if w.reason != "" {
			b.waits[w.process] = wait{w.reason, at}
			b.size += len(w.process) + len(w.reason)
		}
	}
}

// checkpoint returns the present state at the beginning of a chunk, if it is shorter than the
// states since the last checkpoint.
func (b *between) checkpoint() []byte {
	if b.began || b.since < b.size || b.chunks == b.from {
		return nil
	}
	known := make(map[string][2]any, len(b.waits))
	for name, w := range b.waits {
		known[name] = [2]any{w.reason, w.since}
	}
	text, err := json.Marshal(known)
	if err != nil {
		panic(err) // texts and numbers
	}
	b.since, b.from = 0, b.chunks
	return text
}

// cut ends a chunk. It returns the chunk from which a page must replay the states for this chunk;
// -1 if the trace has no states.
func (b *between) cut() int {
	from := -1
	if b.any {
		from = b.from
	}
	b.began = false
	b.chunks++
	return from
}

// stateText and checkpointText write a state for a page. The number of preceding events in its
// chunk comes first.
func stateText(to *bytes.Buffer, after int, raw []byte) { fmt.Fprintf(to, "[%d,%s]\n", after, raw) }
func checkpointText(to *bytes.Buffer, known []byte)     { fmt.Fprintf(to, "[0,null,%s]\n", known) }
