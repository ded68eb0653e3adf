package strict

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// Without returns the map without some of its keys. It is for a type that reads those keys itself
// and leaves the others to another type.
func (n *Node) Without(names ...string) *Node {
	if !n.IsMap() {
		return n
	}
	rest := *n.yaml
	rest.Content = nil
	for i := 0; i < len(n.yaml.Content); i += 2 {
		key, value := n.yaml.Content[i], n.yaml.Content[i+1]
		if follow(key).Kind != yaml.ScalarNode || !slices.Contains(names, follow(key).Value) {
			rest.Content = append(rest.Content, key, value)
		}
	}
	return &Node{document: n.document, yaml: &rest, path: n.path}
}
