package view

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// details are the details of a chunk's events: for each the line of the trace, and its description.
type details struct {
	narrator *trace.Narrator
	rules    *rules
	text     bytes.Buffer
}

// add adds an event. An object is written completely from time to time, so that a page need not
// replay all changes.
func (d *details) add(l trace.Line, raw []byte, known *objects) error {
	kept := 0
	var before, full map[string]any
	switch l.K {
	case trace.Call:
		kept = d.rules.of(&l)
	case trace.API:
		var inFull bool
		if before, full, inFull = known.change(&l); !inFull {
			full = nil
		}
	}
	words := wordsFor(d.narrator, l, before)
	shown := []any{words.Text, words.Outcome}
	switch {
	case full != nil:
		shown = append(shown, full)
	case kept > 0:
		shown = append(shown, nil, kept)
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return fmt.Errorf("words of an event: %w", err)
	}
	d.text.Write(raw)
	d.text.WriteByte('\n')
	d.text.Write(text)
	d.text.WriteByte('\n')
	return nil
}

// wordsFor returns the words for a line. before is its object before a change.
func wordsFor(n *trace.Narrator, l trace.Line, before map[string]any) trace.Words {
	strikes, _ := trace.Glance(&l)
	words := n.DescribeLine(l, before)
	if strikes == "warning" || strikes == "failure" {
		words.Text = excerpt.Paths(words.Text)
	}
	return words
}

// take returns the details of the chunk that ends.
func (d *details) take() ([]byte, error) {
	sets, err := json.Marshal(d.rules.sets.take())
	if err != nil {
		return nil, fmt.Errorf("rules of a chunk: %w", err)
	}
	text := append(append(sets, '\n'), d.text.Bytes()...)
	d.rules.sets = newPlaces[string]()
	d.text.Reset()
	return text, nil
}
