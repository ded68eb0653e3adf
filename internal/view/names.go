package view

import "slices"

// places numbers names in the order in which they occur.
type places[T comparable] struct {
	of    map[T]int
	fresh []T // since the last chunk
}

func newPlaces[T comparable]() *places[T] { return &places[T]{of: map[T]int{}} }

// at returns the position of a name, from 1.
func (p *places[T]) at(name T) int {
	place, known := p.of[name]
	if !known {
		place = len(p.of) + 1
		p.of[name] = place
		p.fresh = append(p.fresh, name)
	}
	return place
}

// atText returns the position of a text, 0 if it is empty.
func atText(p *places[string], text string) int {
	if text == "" {
		return 0
	}
	return p.at(text)
}

func (p *places[T]) take() []T {
	fresh := p.fresh
	p.fresh = nil
	return fresh
}

// appended appends to a list that becomes long. It doubles the capacity, because append's growth by
// a quarter would copy each element about five times.
func appended[T any](list []T, one T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, len(list)+1)
	}
	return append(list, one)
}
