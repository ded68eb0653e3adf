package strict

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Entry is one key of a map and its value.
type Entry struct {
	Name  string
	Key   *Node // where the key stands
	Value *Node
}

// Entries are the keys and values of a map in the file's order, those of merge keys (<<) last. A key that
// is there twice, or is no word, is reported and left out.
func (n *Node) Entries() []Entry {
	if !n.IsMap() {
		return nil
	}
	return n.entries(map[string]bool{})
}

// Key is the key of a map as it stands in the file, or nil.
func (n *Node) Key(name string) *Node {
	for _, entry := range n.Entries() {
		if entry.Name == name {
			return entry.Key
		}
	}
	return nil
}

// Value is what stands under a key of a map, or nil.
func (n *Node) Value(name string) *Node {
	for _, entry := range n.Entries() {
		if entry.Name == name {
			return entry.Value
		}
	}
	return nil
}

// entries leaves out what is in taken: a map's own keys win over merged ones, earlier merges over later ones.
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

// mergedEntries are those of the map, or the list of maps, that a merge key names.
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

// keyName is the text of a key, which kubectl's rules turn into a string from whatever it is.
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
