package view

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Said holds the details of a chunk's events, and the states between them, like a [Chunk] but not
// packed.
type Said struct {
	Details string `json:"details"`
	Between string `json:"between,omitempty"`
}

// Look reads a chunk again.
func (f *File) Look(chunk int) (s Said, err error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	if chunk < 0 || chunk >= len(f.columns) {
		return s, fmt.Errorf("there is no chunk %d: %d have been read", chunk, len(f.columns))
	}
	rules, err := f.learned(chunk * f.perChunk)
	if err != nil {
		return s, err
	}
	again := &lookAgain{file: f, row: chunk * f.perChunk, now: newObjects(), recalled: map[key]bool{}, details: details{narrator: f.narrator, rules: rules}}
	if known := f.checkpoints[chunk]; known != nil {
		checkpointText(&again.states, known)
	}
	if err := f.again(chunk, &again.lines, again.add); err != nil {
		return s, err
	}
	for at, object := range again.now.now {
		f.changes[at].last = remembered{again.row, object}
	}
	said, err := again.details.take()
	return Said{string(said), again.states.String()}, err
}

// again reads the lines of a chunk again.
func (f *File) again(chunk int, lines *lineReader, add func(l *facts, raw []byte) error) error {
	from := f.begins[chunk]
	scan := newScanner(io.NewSectionReader(f.from, from, f.begins[chunk+1]-from), aheadInChunk, lines, f.most)
	var l scanned
	for more := true; more; {
		var raw []byte
		var err error
		if raw, more, err = scan.next(&l); err != nil {
			return err
		}
		if !l.isOne() {
			continue
		}
		if err := add(&l.facts, raw); err != nil {
			return err
		}
	}
	return nil
}

// lookAgain renders the lines of a chunk.
type lookAgain struct {
	file    *File
	lines   lineReader
	row     int // of the next event
	after   int // events of the chunk
	now     *objects
	details details
	states  bytes.Buffer

	recalled map[key]bool // the objects that were loaded into now
}

func (a *lookAgain) add(f *facts, raw []byte) error {
	if f.K.IsState() {
		stateText(&a.states, a.after, raw)
		return nil
	}
	if f.K == trace.API {
		if err := a.recall(keyOf(&f.Line)); err != nil {
			return err
		}
	}
	a.row++
	a.after++
	return a.details.add(a.lines.whole(f), raw, a.now)
}

// recall loads an object in its state before the next event.
func (a *lookAgain) recall(at key) error {
	if a.recalled[at] {
		return nil
	}
	a.recalled[at] = true
	before, changes, err := a.file.before(at, a.row)
	if err == nil && before != nil {
		a.now.now[at], a.now.changes[at] = before, changes
	}
	return err
}

// learned returns the rules with the capabilities that drivers had reported before a row.
func (f *File) learned(row int) (*rules, error) {
	r := newRules()
	for _, rows := range f.lessons {
		last, _ := slices.BinarySearch(rows, row)
		if last == 0 {
			continue
		}
		_, whole, err := f.line(rows[last-1])
		if err != nil {
			return nil, err
		}
		r.of(&whole)
	}
	r.sets = newPlaces[string]()
	return r, nil
}

// line reads the line of an event again.
func (f *File) line(row int) (facts, trace.Line, error) {
	var lines lineReader
	var l scanned
	if _, _, err := newScanner(io.NewSectionReader(f.from, f.lineAt[row], math.MaxInt64), aheadInLine, &lines, 1).next(&l); err != nil || !l.isOne() {
		return facts{}, trace.Line{}, fmt.Errorf("the file has changed since it was read: line %d of its events is there no more", row+1)
	}
	return l.facts, lines.whole(&l.facts), nil
}
