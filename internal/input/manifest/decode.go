package manifest

import (
	"github.com/csisim/csisim/internal/input/strict"
)

// DecodeText reads all objects of a YAML text, which may have several documents. It sets the
// source's dialect to kubectl's.
func DecodeText(source strict.Source) ([]Object, strict.Problems) {
	var r reading
	r.text(source)
	return r.objects, r.problems.Sorted()
}

// Decode reads inline objects of a scenario: an object as a map, a string with YAML, or a list of
// these.
func Decode(raw strict.Raw) ([]Object, strict.Problems) {
	if raw.IsZero() {
		return nil, nil
	}
	var r reading
	document := raw.Open(kubectl)
	r.positions = document.Positions
	r.inline(document.Root)
	r.problems = append(r.problems, document.Problems()...)
	return r.objects, r.problems.Sorted()
}

// reading collects the objects of one or several documents, and their problems.
type reading struct {
	objects   []Object
	problems  strict.Problems
	positions strict.Positions // of the current document
}

func (r *reading) text(source strict.Source) {
	outer := r.positions
	defer func() { r.positions = outer }()
	source.Dialect = kubectl
	documents, problems := strict.Parse(source)
	r.problems = append(r.problems, problems...)
	for _, document := range documents {
		r.positions = document.Positions
		r.object(document.Root)
		r.problems = append(r.problems, document.Problems()...)
	}
}

func (r *reading) inline(n *strict.Node) {
	if block, ok := n.Block(); ok {
		r.text(block)
		return
	}
	if !n.IsList() {
		r.object(n)
		return
	}
	for _, item := range n.Items() {
		if item.IsList() {
			item.ReportWrong(wantObject)
			continue
		}
		r.inline(item)
	}
}
