package store

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Shared holds small maps that are equal in very many objects: sizes, annotations. A map takes 300
// to 700 bytes. Stored objects can share equal maps, since a change of an object changes a copy.
type Shared struct {
	texts map[uint64]map[string]string
	sizes map[size]any // maps of one size
}

// maxShared bounds the kept maps. When the limit is reached, all maps are dropped.
const maxShared = 4096

// size is a list of one resource.
type size struct {
	name   string
	amount resource.Quantity
}

// Text replaces a map by an equal map of another object.
func (s *Shared) Text(m *map[string]string) {
	if len(*m) == 0 {
		return
	}
	var sum uint64
	for key, value := range *m { // in any order: the result is a sum
		sum += mixed(mixed(14695981039346656037, key), value)
	}
	if known := s.texts[sum]; maps.Equal(known, *m) {
		*m = known
		return
	}
	if s.texts == nil || len(s.texts) >= maxShared {
		s.texts = map[uint64]map[string]string{}
	}
	s.texts[sum] = *m
}

// mixed continues FNV-1a with a text.
func mixed(hash uint64, text string) uint64 {
	for i := range len(text) {
		hash = (hash ^ uint64(text[i])) * 1099511628211
	}
	return (hash ^ 0xff) * 1099511628211
}

// ShareSizes shares lists that are equal in spelling: "1Gi" is not "1024Mi".
func ShareSizes[N ~string, L ~map[N]resource.Quantity](s *Shared, list *L) {
	if len(*list) != 1 {
		return
	}
	for name, amount := range *list {
		if known, ok := s.sizes[size{string(name), amount}].(L); ok {
			*list = known
			return
		}
		if s.sizes == nil || len(s.sizes) >= maxShared {
			s.sizes = map[size]any{}
		}
		s.sizes[size{string(name), amount}] = *list
	}
}
