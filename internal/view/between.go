package view

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// between follows the states of a trace, which stand between its events: what processes wait for, and what caches learn late.
// A page replays them from a checkpoint, which is written once they have become longer than what there is to be known.
type between struct {
	any    bool // of this trace
	began  bool // of this chunk
	waits  map[string]wait
	size   int // of what is known
	since  int // how much was written since the checkpoint
	from   int // the chunk of the checkpoint
	chunks int // that have been cut
}

// wait is what a process waits for, since a time in ms.
type wait struct {
	reason string
	since  int64
}

// add adds a state of so many bytes. The chunk begins with the checkpoint if there is one.
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

// checkpoint is all that is known, if a chunk begins and that is less than what has been written since the last time.
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

// cut ends a chunk. It returns the one from which a page is to replay the states to know what holds then; -1 if the trace
// has none.
func (b *between) cut() int {
	from := -1
	if b.any {
		from = b.from
	}
	b.began = false
	b.chunks++
	return from
}

// stateText and checkpointText are what a page gets of a state, which stands after so many events of its chunk.
func stateText(to *bytes.Buffer, after int, raw []byte) { fmt.Fprintf(to, "[%d,%s]\n", after, raw) }
func checkpointText(to *bytes.Buffer, known []byte)     { fmt.Fprintf(to, "[0,null,%s]\n", known) }
