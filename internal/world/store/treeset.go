package store

import (
	"iter"
)

// treeSet is an ordered set of index entries that keeps past states. A change creates a new set
// that shares all but one path with the old set. Nodes of the current edition are changed in place,
// because no kept set refers to them. It is a treap with hashes of the elements as priorities, so
// its shape depends only on its content. Nil is the empty set.
type treeSet struct {
	entry
	left, right *treeSet
	priority    uint32
	made        edition
}

// edition numbers the kept states of a set. When a state is kept, the next edition begins.
type edition uint32

// in returns the node if the edition created it, otherwise a copy that the edition may change.
func (t *treeSet) in(now edition) *treeSet {
	if t.made == now {
		return t
	}
	return &treeSet{t.entry, t.left, t.right, t.priority, now}
}

// with returns the set with an entry added.
func (t *treeSet) with(e *entry, now edition) *treeSet {
	if t == nil {
		return &treeSet{entry: *e, priority: e.priority(), made: now}
	}
	switch e.compare(&t.entry) {
	case -1:
		left := t.left.with(e, now)
		t = t.in(now)
		if left.priority > t.priority {
			t.left, left.right = left.right, t
			return left
		}
		t.left = left
	case 1:
		right := t.right.with(e, now)
		t = t.in(now)
		if right.priority > t.priority {
			t.right, right.left = right.left, t
			return right
		}
		t.right = right
	}
	return t
}

// without returns the set with an entry removed.
func (t *treeSet) without(e *entry, now edition) *treeSet {
	if t == nil {
		return nil
	}
	switch e.compare(&t.entry) {
	case -1:
		t = t.in(now)
		t.left = t.left.without(e, now)
		return t
	case 1:
		t = t.in(now)
		t.right = t.right.without(e, now)
		return t
	}
	return joined(t.left, t.right, now)
}

// joined returns the union of two sets; all of the first must precede the second.
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

// having iterates, in order, over the keys of the objects with a value in an index.
func (t *treeSet) having(index *resourceIndex, value string) iter.Seq[Key] {
	return func(yield func(Key) bool) { t.walk(&entry{index: index, value: value}, yield) }
}

func (t *treeSet) walk(of *entry, yield func(Key) bool) bool {
	if t == nil {
		return true
	}
	side := of.compareValue(&t.entry)
	if side <= 0 && !t.left.walk(of, yield) {
		return false
	}
	if side == 0 && !yield(t.key) {
		return false
	}
	if side >= 0 {
		return t.right.walk(of, yield)
	}
	return true
}

// priority returns the FNV-1a hash, mixed once more because treaps need good high bits.
func (e *entry) priority() uint32 {
	h := uint64(14695981039346656037)
	for _, text := range [...]string{string(e.index.index), e.value, e.key.Namespace, e.key.Name} {
		h = mixed(h, text)
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return uint32((h ^ h>>29) >> 32)
}
