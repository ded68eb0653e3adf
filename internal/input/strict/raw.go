package strict

// Raw is an undecoded value with its position. It is decoded when its type is known.
type Raw struct{ node *Node }

// IsZero reports whether the file has no such value.
func (r Raw) IsZero() bool { return r.node == nil }

// Path returns the path from the document's root to the value.
func (r Raw) Path() string { return r.node.path }

// Open reads the value as a separate document in the dialect. Paths and positions stay those of the
// file. nil means the dialect of scenarios.
func (r Raw) Open(dialect *Dialect) *Document {
	source := r.node.document.Source
	source.Dialect = dialect
	d := &Document{Source: source, Positions: Positions{}, lines: r.node.document.lines}
	d.Root = d.node(r.node.yaml, r.node.path)
	return d
}

// JSONSchema allows anything.
func (Raw) JSONSchema() map[string]any { return map[string]any{} }
