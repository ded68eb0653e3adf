package store

// byResource is what there is of each resource of a store, by its number.
type byResource[T any] []T

// of is nil where there is nothing yet.
func (b byResource[T]) of(res *Resource) *T {
	if res.number < len(b) {
		return &b[res.number]
	}
	return nil
}

// on is what there is of a resource, good until there is something of another one.
func (b *byResource[T]) on(res *Resource) *T {
	if missing := 1 + res.number - len(*b); missing > 0 {
		*b = append(*b, make([]T, missing)...)
	}
	return &(*b)[res.number]
}
