package strict

// Raw keeps a value as it stands, with its position, to be decoded when it is known into what.
type Raw struct{ node *Node }

// IsZero says that the file has no such value.
func (r Raw) IsZero() bool { return r.node == nil }

// Path leads from the document's root to the value.
func (r Raw) Path() string { return r.node.path }

// Open reads the value as a document of its own under the dialect; paths and positions stay those of the file.
// The dialect nil is the scenario language's.
func (r Raw) Open(dialect *Dialect) *Document {
	source := r.node.document.Source
	source.Dialect = dialect
	d := &Document{Source: source, Positions: Positions{}, lines: r.node.document.lines}
	d.Root = d.node(r.node.yaml, r.node.path)
	return d
}

// JSONSchema allows anything.
func (Raw) JSONSchema() map[string]any { return map[string]any{} }
