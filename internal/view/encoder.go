package view

import (
	"bytes"
	"fmt"

	"github.com/csisim/csisim/internal/world/trace"
)

// Encoder makes chunks from the lines of a trace. The lines are added in order.
type Encoder struct {
	reading
	run     trace.Lines // of the added events
	lines   lineReader
	known   *objects
	details details
	states  bytes.Buffer // the states between the events of the chunk
	most    int          // events of a trace from a file
	chunks  []Chunk
}

// NewEncoder returns an encoder without any events.
func NewEncoder() *Encoder {
	e := &Encoder{reading: newReading(), known: newObjects(), most: mostEvents}
	e.details = details{narrator: e.narrator, rules: newRules()}
	return e
}

// Sink adds the events of a run.
func (e *Encoder) Sink(event *trace.Event) {
	line, err := e.run.Of(event)
	if err == nil {
		err = e.AddLine(line)
	}
	if err != nil {
		line = trace.Line{T: event.At.Milliseconds(), K: event.Kind, Seq: event.Seq, Msg: err.Error()}
		_ = e.AddLine(line) // text can always be rendered
	}
}

// AddLine adds a line of a trace.
func (e *Encoder) AddLine(l trace.Line) error {
	raw, err := l.Text()
	if err != nil {
		return fmt.Errorf("render event %d: %w", l.Seq, err)
	}
	return e.Add(raw)
}

// Add adds an encoded line of a trace.
func (e *Encoder) Add(raw []byte) error {
	var f facts
	if err := e.lines.facts(raw, &f); err != nil {
		return err
	}
	return e.add(&f, raw)
}

// add adds the line that was read last.
func (e *Encoder) add(f *facts, raw []byte) error {
	if f.K.IsState() {
		if checkpoint := e.state(f, len(raw)); checkpoint != nil {
			checkpointText(&e.states, checkpoint)
		}
		stateText(&e.states, len(e.rows), raw)
		return nil
	}
	e.reading.add(f)
	if err := e.details.add(e.lines.whole(f), raw, e.known); err != nil {
		return err
	}
	if len(e.rows) >= e.perChunk {
		return e.cut()
	}
	return nil
}

// cut ends a chunk.
func (e *Encoder) cut() error {
	chunk := Chunk{Events: len(e.rows)}
	columns, err := e.reading.cut()
	if err != nil {
		return err
	}
	said, err := e.details.take()
	if err != nil {
		return err
	}
	chunk.Columns, chunk.Details = deflated(columns), deflated(said)
	if e.states.Len() > 0 {
		chunk.Between = deflated(e.states.Bytes())
		e.states.Reset()
	}
	e.chunks = append(e.chunks, chunk)
	return nil
}

// Chunks returns the new chunks, with all events so far.
func (e *Encoder) Chunks() ([]Chunk, error) {
	if len(e.rows) > 0 || e.states.Len() > 0 {
		if err := e.cut(); err != nil {
			return nil, err
		}
	}
	chunks := e.chunks
	e.chunks = nil
	return chunks, nil
}
