package store

import (
	"iter"
	"strings"
)

// treeSet is an ordered set of strings of which past states can be kept. A change
// makes a new set that shares all but one path with the old one, except for what
// the same edition made before: that nobody else holds yet, and it is changed in
// place. It is a treap whose priorities are hashes of the elements, so its shape
// depends on nothing but what it holds. Nil is the empty set.
type treeSet struct {
	element     string
	priority    uint64
	left, right *treeSet
	made        edition
}

// edition numbers the states of a set that are kept: who keeps one begins the next.
type edition uint64

// in is the node, if the edition made it, or a copy that the edition may change.
func (t *treeSet) in(now edition) *treeSet {
	if t.made == now {
		return t
	}
	return &treeSet{t.element, t.priority, t.left, t.right, now}
}

// with returns the set and the element.
func (t *treeSet) with(element string, now edition) *treeSet {
	if t == nil {
		return &treeSet{element: element, priority: priorityOf(element), made: now}
	}
	switch strings.Compare(element, t.element) {
	case -1:
		left := t.left.with(element, now)
		t = t.in(now)
		if left.priority > t.priority {
			t.left, left.right = left.right, t
			return left
		}
		t.left = left
	case 1:
		right := t.right.with(element, now)
		t = t.in(now)
		if right.priority > t.priority {
			t.right, right.left = right.left, t
			return right
		}
		t.right = right
	}
	return t
}

// without returns the set less the element.
func (t *treeSet) without(element string, now edition) *treeSet {
	if t == nil {
		return nil
	}
	switch strings.Compare(element, t.element) {
	case -1:
		t = t.in(now)
		t.left = t.left.without(element, now)
		return t
	case 1:
		t = t.in(now)
		t.right = t.right.without(element, now)
		return t
	}
	return joined(t.left, t.right, now)
}

// joined returns the union of two sets of which the first is all before the
// second.
func joined(first, second *treeSet, now edition) *treeSet {
	switch {
	case first == nil:
		return second
	case second == nil:
		return first
	case first.priority > second.priority:
		first = first.in(now)
		first.right = joined(first.right, second, now)
		return first
	}
	second = second.in(now)
	second.left = joined(first, second.left, now)
	return second
}

// after ranges in order over what follows the prefix in the elements that begin
// with it.
func (t *treeSet) after(prefix string) iter.Seq[string] {
	return func(yield func(string) bool) { t.walk(prefix, yield) }
}

func (t *treeSet) walk(prefix string, yield func(string) bool) bool {
	if t == nil {
		return true
	}
	rest, ok := strings.CutPrefix(t.element, prefix)
	if ok || t.element > prefix {
		if !t.left.walk(prefix, yield) {
			return false
		}
	}
	if ok && !yield(rest) {
		return false
	}
	if ok || t.element < prefix {
		return t.right.walk(prefix, yield)
	}
	return true
}

// priorityOf is the FNV-1a hash, mixed once more because treaps need good high
// bits.
func priorityOf(element string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(element) {
		h = (h ^ uint64(element[i])) * 1099511628211
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}
