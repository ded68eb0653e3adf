package store

// tree is an ordered set of which past states can be kept. A change makes a new set that
// shares all but one path with the old one, except for what the same edition made before:
// that nobody else holds yet, and it is changed in place. It is a treap whose priorities
// are hashes of the elements, so its shape depends on nothing but what it holds. Nil is
// the empty set.
type tree[E any, P element[E]] struct {
	held        E
	left, right *tree[E, P]
	priority    uint32
	made        edition
}

// element is what a tree holds: its order, and a hash of what the order looks at.
type element[E any] interface {
	*E
	compare(*E) int
	hash() uint64
}

// edition numbers the states of a set that are kept: who keeps one begins the next.
type edition uint32

// in is the node, if the edition made it, or a copy that the edition may change.
func (t *tree[E, P]) in(now edition) *tree[E, P] {
	if t.made == now {
		return t
	}
	return &tree[E, P]{t.held, t.left, t.right, t.priority, now}
}

// with returns the set and an element, which takes the place of an equal one.
func (t *tree[E, P]) with(e P, now edition) *tree[E, P] {
	if t == nil {
		return &tree[E, P]{held: *e, priority: priority(e.hash()), made: now}
	}
	switch e.compare(&t.held) {
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
	default:
		t = t.in(now)
		t.held = *e
	}
	return t
}

// without returns the set less an element.
func (t *tree[E, P]) without(e P, now edition) *tree[E, P] {
	if t == nil {
		return nil
	}
	switch e.compare(&t.held) {
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

// joined returns the union of two sets of which the first is all before the
// second.
func joined[E any, P element[E]](first, second *tree[E, P], now edition) *tree[E, P] {
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

// find is the element that equals another one; nil if there is none.
func (t *tree[E, P]) find(e P) P {
	for t != nil {
		switch e.compare(&t.held) {
		case -1:
			t = t.left
		case 1:
			t = t.right
		default:
			return &t.held
		}
	}
	return nil
}

// walk goes in order over the elements of a range, until yield is false. side says of an element whether the range is before it,
// -1, it is in the range, 0, or the range is after it.
func (t *tree[E, P]) walk(side func(P) int, yield func(P) bool) bool {
	if t == nil {
		return true
	}
	at := side(&t.held)
	if at <= 0 && !t.left.walk(side, yield) {
		return false
	}
	if at == 0 && !yield(&t.held) {
		return false
	}
	if at >= 0 {
		return t.right.walk(side, yield)
	}
	return true
}

// priority mixes a hash once more, because treaps need good high bits.
func priority(h uint64) uint32 {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return uint32((h ^ h>>29) >> 32)
}
