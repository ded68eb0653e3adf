package view

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// between keeps the states of a trace, which stand between its events: what processes wait for, and what caches learn late.
// A page replays them from a checkpoint, which is written once they have become longer than what there is to be known.
type between struct {
	lines  bytes.Buffer // of the chunk: [events of the chunk before it, the line of the trace]
	any    bool         // of this trace
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

// stateLine is a line of a trace that is a state.
type stateLine struct {
	T   int64           `json:"t"`
	K   trace.Kind      `json:"k"`
	Obj json.RawMessage `json:"obj"`
}

// add adds a state that stands after so many events of its chunk.
func (b *between) add(raw []byte, after int) error {
	var l stateLine
	if err := json.Unmarshal(raw, &l); err != nil {
		return err
	}
	if l.K == trace.Waits {
		var waits trace.WaitsFor
		if err := json.Unmarshal(l.Obj, &waits); err != nil {
			return fmt.Errorf("what processes wait for: %w", err)
		}
		b.checkpoint()
		b.learn(l.T, waits)
		b.since += len(raw)
	}
	b.any = true
	fmt.Fprintf(&b.lines, "[%d,%s]\n", after, raw)
	return nil
}

func (b *between) learn(at int64, waits trace.WaitsFor) {
	if b.waits == nil {
		b.waits = map[string]wait{}
	}
	for reason, processes := range waits {
		for _, name := range processes {
			if before, known := b.waits[name]; known {
				b.size -= len(name) + len(before.reason)
				delete(b.waits, name)
			}
			if reason != "" {
				b.waits[name] = wait{reason, at}
				b.size += len(name) + len(reason)
			}
		}
	}
}

// checkpoint begins a chunk with all that is known if that is less than what has been written since the last time.
func (b *between) checkpoint() {
	if b.lines.Len() > 0 || b.since < b.size || b.chunks == b.from {
		return
	}
	known := make(map[string][2]any, len(b.waits))
	for name, w := range b.waits {
		known[name] = [2]any{w.reason, w.since}
	}
	text, err := json.Marshal(known)
	if err != nil {
		panic(err) // texts and numbers
	}
	fmt.Fprintf(&b.lines, "[0,null,%s]\n", text)
	b.since, b.from = 0, b.chunks
}

// take are the lines of the chunk that ends, and the chunk from which a page is to replay them to know what holds then; -1
// if the trace has no states.
func (b *between) take() (lines string, from int) {
	from = -1
	if b.any {
		from = b.from
	}
	if b.lines.Len() > 0 {
		lines = deflated(b.lines.Bytes())
	}
	b.lines.Reset()
	b.chunks++
	return lines, from
}
