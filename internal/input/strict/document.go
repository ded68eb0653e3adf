// Package strict reads YAML into Go structs and reports every mistake at once, each with its file, line,
// column and path, what was found and what would be right. The structs' tags say what a file may hold, and
// the JSON Schema that editors use is made from the same tags:
//
//	json:"name"      the key; encoding/json's rules, but exact in case
//	doc:"..."        one sentence for schema and help
//	want:"required"  the key must be there
//	enum:"a|b"       the only values allowed
//	example:"..."    shown in messages and in the schema
//	default:"..."    the value, as YAML, when the key is left out
//
// A type that has more than one form in a file implements Unmarshaler.
package strict

import "github.com/csisim/csisim/internal/world/excerpt"

// Document is one YAML document and what is known of it: its values, their positions and, as decoding goes
// on, its problems.
type Document struct {
	Source    Source
	Root      *Node
	Positions Positions
	// Words is for types that read themselves: what words mean in this document alone.
	Words any

	lines    [][]byte
	problems Problems
	full     bool // there are so many problems that no more are kept
}

// Decode reads the one document of a file into the struct that into points to. The document is nil only
// where the text is not YAML or holds no single document. What could be read is in into even when there
// are problems.
func Decode(file string, data []byte, into any) (*Document, Problems) {
	document, problems := Open(file, data, into)
	if document == nil {
		return nil, problems
	}
	document.Root.Decode(into)
	return document, document.Problems()
}

// Open is the one document of a file, of which nothing is decoded yet; into is what it will be decoded into.
func Open(file string, data []byte, into any) (*Document, Problems) {
	source := Source{File: file, Text: data}
	documents, problems := Parse(source)
	if len(problems) > 0 {
		return nil, problems
	}
	if len(documents) == 0 {
		return nil, Problems{source.problem(1, 1, "an empty file", wanted(into))}
	}
	if len(documents) > 1 {
		second := documents[1].Root
		second.Report("a second document", "one document in a file, so no --- here")
		return nil, documents[1].Problems()
	}
	return documents[0], nil
}

// Problems are those reported so far, sorted, each once.
func (d *Document) Problems() Problems { return d.problems.Sorted() }

// Report adds a problem with the value at the path, for checks that come after decoding, such as a
// reference to a node that does not exist.
func (d *Document) Report(path, found, want string) {
	d.report(d.Positions.At(path), path, found, want, "")
}

// ReportUnknown adds a problem with a word at the path that is none of the known ones and suggests the nearest.
func (d *Document) ReportUnknown(path, found, word, want string, known []string) {
	d.report(d.Positions.At(path), path, found, want, Nearest(word, known))
}

func (d *Document) report(at Position, path, found, want, suggestion string) {
	if len(d.problems) > 10*maxProblems { // of a list of a million mistakes the first are enough
		if d.problems = d.problems.Sorted(); len(d.problems) > maxProblems {
			d.full = true
		}
	}
	if d.full {
		return
	}
	d.problems = append(d.problems, Problem{
		File: d.Source.File, Line: at.Line, Column: at.Column,
		Path: excerpt.Of(path, excerpt.Name), Found: excerpt.Of(found, excerpt.Name), Want: want, Suggestion: suggestion,
	})
}

func (d *Document) dialect() Dialect {
	if d.Source.Dialect == nil {
		return Dialect{}
	}
	return *d.Source.Dialect
}
