package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Entry is one key of a map and its value.
type Entry struct {
	Name  string
	Key   *Node // the key's position
	Value *Node
}

// Entries returns the keys and values of a map in the file's order, with merge keys (<<) last. It
// reports and omits a duplicate key, and a key that is not a word.
func (n *Node) Entries() []Entry {
	if !n.IsMap() {
		return nil
	}
	return n.entries(map[string]bool{})
}

// Key returns a key of a map, or nil.
func (n *Node) Key(name string) *Node {
	for _, entry := range n.Entries() {
		if entry.Name == name {
			return entry.Key
		}
	}
	return nil
}

// Value returns the value of a key of a map, or nil.
func (n *Node) Value(name string) *Node {
	for _, entry := range n.Entries() {
		if entry.Name == name {
			return entry.Value
		}
	}
	return nil
}

// entries omits the keys in taken. A map's own keys take precedence over merged keys, and earlier
// merges over later merges.
func (n *Node) entries(taken map[string]bool) []Entry {
	var entries []Entry
	firstLine := map[string]int{}
	var merges []*Node
	for i := 0; i < len(n.yaml.Content); i += 2 {
		key, value := n.yaml.Content[i], n.yaml.Content[i+1]
		name, ok := n.keyName(key)
		if !ok {
			continue
		}
		path := Key(n.path, name)
		keyNode := &Node{document: n.document, yaml: key, path: path}
		if line, twice := firstLine[name]; twice {
			keyNode.Report(fmt.Sprintf("key %q a second time", name), fmt.Sprintf("each key once (it is in line %d)", line))
			continue
		}
		firstLine[name] = keyNode.Position().Line
		if key.Tag == mergeTag {
			merges = append(merges, &Node{document: n.document, yaml: value, path: path})
			continue
		}
		if !taken[name] {
			taken[name] = true
			entries = append(entries, Entry{Name: name, Key: keyNode, Value: n.document.node(value, path)})
		}
	}
	for _, merge := range merges {
		entries = append(entries, n.mergedEntries(merge, taken)...)
	}
	return entries
}

// mergedEntries returns the entries of the map, or the list of maps, of a merge key.
func (n *Node) mergedEntries(merge *Node, taken map[string]bool) []Entry {
	sources := []*yaml.Node{merge.yaml}
	if value := follow(merge.yaml); value.Kind == yaml.SequenceNode {
		sources = value.Content
	}
	var entries []Entry
	for _, source := range sources {
		from := &Node{document: n.document, yaml: follow(source), path: n.path}
		if !from.IsMap() {
			merge.Report(from.Found()+" to merge", "an alias of a map, or a list of them")
			continue
		}
		entries = append(entries, from.entries(taken)...)
	}
	return entries
}

// keyName returns the text of a key. By kubectl's rules a key of any type is a string.
func (n *Node) keyName(key *yaml.Node) (string, bool) {
	node := &Node{document: n.document, yaml: follow(key), path: n.path}
	switch node.tag() {
	case stringTag, mergeTag, intTag, floatTag:
		return node.yaml.Value, true
	case boolTag:
		if !n.document.dialect().LooseBooleans {
			return node.yaml.Value, true
		}
		if node.boolean() {
			return "true", true
		}
		return "false", true
	}
	node.Report(node.Found()+" as a key", "a word")
	return "", false
}

func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
