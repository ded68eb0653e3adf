package view

import "slices"

// places counts names in the order in which they come.
type places[T comparable] struct {
	of    map[T]int
	fresh []T // since the last chunk
}

func newPlaces[T comparable]() *places[T] { return &places[T]{of: map[T]int{}} }

// at is the place of a name, from 1.
func (p *places[T]) at(name T) int {
	place, known := p.of[name]
	if !known {
		place = len(p.of) + 1
		p.of[name] = place
		p.fresh = append(p.fresh, name)
	}
	return place
}

// atText is the place of a text, 0 if it is empty.
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

// appended adds to a list that becomes long: it grows by as much as it has, where append's quarter copies all of it some five times.
func appended[T any](list []T, one T) []T {
	if len(list) == cap(list) {
		list = slices.Grow(list, len(list)+1)
	}
	return append(list, one)
}
