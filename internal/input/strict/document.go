// Package strict reads YAML into Go structs and reports every mistake at once, each with its file,
// line, column and path, the wrong value and the expected one. The structs' tags describe the file.
// They are also the source of the JSON Schema for editors:
//
//	json:"name"      the key; encoding/json's rules, but exact in case
//	doc:"..."        a sentence for schema and help
//	want:"required"  the key is required
//	enum:"a|b"       the only values allowed
//	example:"..."    shown in messages and in the schema
//	default:"..."    the value, as YAML, when the key is missing
//
// A type that has more than one form in a file implements Unmarshaler.
package strict

import "github.com/csisim/csisim/internal/world/excerpt"

// Document is one YAML document: its values, their positions and, during decoding, its problems.
type Document struct {
	Source    Source
	Root      *Node
	Positions Positions
	// Words is the meaning of words in this document, for types that read themselves.
	Words any

	lines    [][]byte
	problems Problems
	full     bool // too many problems: no more are stored
}

// Decode reads the only document of a file into a struct. The argument "into" is a pointer to it.
// The document is nil only if the text is not YAML or is not a single document. Even with problems,
// into has all values that could be read.
func Decode(file string, data []byte, into any) (*Document, Problems) {
	document, problems := Open(file, data, into)
	if document == nil {
		return nil, problems
	}
	document.Root.Decode(into)
	return document, document.Problems()
}

// Open parses the one document of a file without decoding it. into is the later target of decoding.
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

// Problems returns the problems reported so far, sorted and without duplicates.
func (d *Document) Problems() Problems { return d.problems.Sorted() }

// Report adds a problem with the value at the path, for checks after decoding, such as a reference
// to a node that does not exist.
func (d *Document) Report(path, found, want string) {
	d.report(d.Positions.At(path), path, found, want, "")
}

// ReportUnknown adds a problem with an unknown word at the path and suggests the nearest known one.
func (d *Document) ReportUnknown(path, found, word, want string, known []string) {
	d.report(d.Positions.At(path), path, found, want, Nearest(word, known))
}

func (d *Document) report(at Position, path, found, want, suggestion string) {
	if len(d.problems) > 10*maxProblems { // the first mistakes of a long list are enough
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
