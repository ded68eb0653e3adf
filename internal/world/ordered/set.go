package ordered

import (
	"cmp"
	"slices"
)

// Set is a set of few members. The zero value is empty.
type Set[K cmp.Ordered] []K

// Has reports whether something is a member.
func (s Set[K]) Has(member K) bool {
	_, ok := slices.BinarySearch(s, member)
	return ok
}

// With returns the set with an additional member.
func (s Set[K]) With(member K) Set[K] {
	at, ok := slices.BinarySearch(s, member)
	if ok {
		return s
	}
	return slices.Insert(s, at, member)
}

// Without returns the set without a member. The old set must not be used any more.
func (s Set[K]) Without(member K) Set[K] {
	at, ok := slices.BinarySearch(s, member)
	if !ok {
		return s
	}
	return slices.Delete(s, at, at+1)
}
