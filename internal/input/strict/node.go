package strict

import (
	"bytes"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"
)

// Node is one value of a document with its path. Aliases and merge keys are already followed: a
// node is the value itself.
type Node struct {
	document *Document
	yaml     *yaml.Node
	path     string
}

// Unmarshaler is a type that reads itself from a node, because a file can express it in several
// ways or because a key determines its form. It reports its problems on the node.
type Unmarshaler interface {
	UnmarshalStrict(n *Node)
}

// node wraps a value and records its position.
func (d *Document) node(value *yaml.Node, path string) *Node {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	n := &Node{document: d, yaml: value, path: path}
	if _, known := d.Positions[path]; !known {
		d.Positions[path] = n.Position()
	}
	return n
}

// Path returns the path from the document's root to the node, as in steps[2].wait.pod; it is empty
// for the root.
func (n *Node) Path() string { return n.path }

// File returns the name of the node's file.
func (n *Node) File() string { return n.document.Source.File }

// Words returns the words of the node's document.
func (n *Node) Words() any { return n.document.Words }

// Position returns where the node starts in its file.
func (n *Node) Position() Position { return n.document.place(n.yaml) }

// IsMap reports whether the node holds keys and values.
func (n *Node) IsMap() bool { return n.yaml.Kind == yaml.MappingNode }

// IsList reports whether the node holds items.
func (n *Node) IsList() bool { return n.yaml.Kind == yaml.SequenceNode }

// IsNull reports whether the node is a key without a value, or the word null.
func (n *Node) IsNull() bool { return isNull(n.yaml) }

// Text returns the node's string, if it is one.
func (n *Node) Text() (string, bool) {
	return n.yaml.Value, n.tag() == stringTag
}

// Items returns the items of a list.
func (n *Node) Items() []*Node {
	if !n.IsList() {
		return nil
	}
	items := make([]*Node, len(n.yaml.Content))
	for i, item := range n.yaml.Content {
		items[i] = n.document.node(item, Index(n.path, i))
	}
	return items
}

// Decode reads the node into the target of the pointer and reports every mismatch.
func (n *Node) Decode(into any) {
	target := reflect.ValueOf(into)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		panic("strict: Decode needs a pointer to the value to fill")
	}
	n.decode(target.Elem(), &field{})
}

// Report adds a problem with this node.
func (n *Node) Report(found, want string) {
	n.document.report(n.Position(), n.path, found, want, "")
}

// ReportWrong adds a problem that describes the node's value: number 3, a list.
func (n *Node) ReportWrong(want string) { n.Report(n.Found(), want) }

// ReportMissing adds a problem with a key that the map lacks.
func (n *Node) ReportMissing(name, want string) {
	n.document.report(n.Position(), Key(n.path, name), fmt.Sprintf("no field %q", name), want, "")
}

// ReportUnknown adds a problem with an unknown word and suggests the nearest known one.
func (n *Node) ReportUnknown(found, word, want string, known []string) {
	n.document.report(n.Position(), n.path, found, want, Nearest(word, known))
}

// Block returns the text of a string as a separate source, for YAML in a string. The lines of a
// literal block (|) keep their positions in the file; any other string has one position.
func (n *Node) Block() (Source, bool) {
	text, ok := n.Text()
	if !ok {
		return Source{}, false
	}
	at := n.Position()
	block := Source{File: n.File(), Text: []byte(text), Line: at.Line, Column: at.Column, Fixed: true}
	if n.yaml.Style&yaml.LiteralStyle == 0 || n.document.Source.Fixed {
		return block, true
	}
	block.Fixed = false
	block.Column = n.document.Source.Column + n.document.indent(n.yaml)
	return block, true
}

// indent returns by how many columns the lines of a literal block are indented in the file, beyond
// the indentation of their text.
func (d *Document) indent(block *yaml.Node) int {
	inText := leadingBlanks(bytes.Split([]byte(block.Value), []byte("\n")))
	inFile := leadingBlanks(d.lines[min(block.Line, len(d.lines)):])
	return max(0, inFile-inText)
}

// leadingBlanks counts the blanks of the first line that is not blank.
func leadingBlanks(lines [][]byte) int {
	for _, line := range lines {
		if text := bytes.TrimLeft(line, " "); len(bytes.TrimSpace(text)) > 0 {
			return len(line) - len(text)
		}
	}
	return 0
}
