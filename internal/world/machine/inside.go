package machine

import "slices"

// inside is the content of an inode: nil for an empty inode, the only entry or the entries of a
// directory, the content of a file or symlink, the server of a socket. Most directories have one
// entry.
type inside interface{ isInside() }

type (
	entries []*inode // sorted by name
	content string   // a file's content, a symlink's target
)

func (*inode) isInside()          {}
func (entries) isInside()         {}
func (content) isInside()         {}
func (*memoryListener) isInside() {}

// children returns the entries of a directory, sorted by name.
func (n *inode) children() []*inode {
	switch in := n.inside.(type) {
	case *inode:
		return []*inode{in}
	case entries:
		return in
	}
	return nil
}

// insert adds an entry with a new name to a directory.
func (n *inode) insert(child *inode) {
	if n.inside == nil {
		n.inside = child
		return
	}
	all := entries(n.children())
	at, _ := all.find(child.name)
	n.inside = slices.Insert(all, at, child)
}

// drop removes an entry from a directory.
func (n *inode) drop(child *inode) {
	all := entries(n.children())
	if at, ok := all.find(child.name); !ok {
		return
	} else if all = slices.Delete(all, at, at+1); len(all) == 0 {
		n.inside = nil
	} else {
		n.inside = all
	}
}

// child returns an entry of a directory, nil if there is none with that name.
func (n *inode) child(name string) *inode {
	switch in := n.inside.(type) {
	case *inode:
		if in.name == name {
			return in
		}
	case entries:
		if at, ok := in.find(name); ok {
			return in[at]
		}
	}
	return nil
}

// find is an inlined binary search, because it runs for each component of every path.
func (e entries) find(name string) (at int, ok bool) {
	low, high := 0, len(e)
	for low < high {
		middle := (low + high) / 2
		switch found := e[middle].name; {
		case found == name:
			return middle, true
		case found < name:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// data returns the content of a file or the target of a symlink.
func (n *inode) data() string {
	text, _ := n.inside.(content)
	return string(text)
}

// server returns the server of a socket, nil if none serves.
func (n *inode) server() *memoryListener {
	server, _ := n.inside.(*memoryListener)
	return server
}
