package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// A few lines of nested aliases can expand to more values than fit into memory. A value that
// contains itself expands to infinitely many. Documents beyond these limits are rejected before
// their values are visited.
const (
	maxDepth  = 200
	maxValues = 250_000
)

// extent is the size of a value with every alias in it followed.
type extent struct{ values, depth int }

type surveyor struct {
	known map[*yaml.Node]extent
	open  map[*yaml.Node]bool
	cycle *yaml.Node
}

// checkExtent reports a document that contains itself or is too large or too deep to visit.
func (d *Document) checkExtent(root *yaml.Node) {
	s := surveyor{known: map[*yaml.Node]extent{}, open: map[*yaml.Node]bool{}}
	size := s.measure(root)
	switch {
	case s.cycle != nil:
		at := d.place(s.cycle)
		d.report(at, "", fmt.Sprintf("alias *%s inside the value it stands for", s.cycle.Value), "an alias of another value", "")
	case size.depth > maxDepth:
		d.report(d.place(root), "", fmt.Sprintf("values nested %d deep", size.depth), fmt.Sprintf("at most %d levels", maxDepth), "")
	case size.values > maxValues:
		d.report(d.place(root), "", "very many values, with aliases followed", fmt.Sprintf("at most %d values", maxValues), "")
	}
}

func (s *surveyor) measure(n *yaml.Node) extent {
	if size, ok := s.known[n]; ok {
		return size
	}
	if n.Kind == yaml.AliasNode {
		if s.open[n.Alias] {
			s.cycle = n
			return extent{}
		}
		return s.measure(n.Alias)
	}
	s.open[n] = true
	size := extent{values: 1, depth: 1}
	for _, child := range n.Content {
		inner := s.measure(child)
		size.values = min(size.values+inner.values, maxValues+1)
		size.depth = max(size.depth, inner.depth+1)
	}
	delete(s.open, n)
	s.known[n] = size
	return size
}

func (d *Document) place(n *yaml.Node) Position {
	return d.Source.place(d.lines, n.Line, n.Column)
}
