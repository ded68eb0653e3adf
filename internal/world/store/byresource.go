package store

// byResource is what there is of each resource of a store, by its number.
type byResource[T any] []*T

// of is nil where there is nothing.
func (b byResource[T]) of(res *Resource) *T {
	if res.number < len(b) {
		return b[res.number]
	}
	return nil
}

// on is what there is of a resource, made at the first time.
func (b *byResource[T]) on(res *Resource) *T {
	for len(*b) <= res.number {
		*b = append(*b, nil)
	}
	if (*b)[res.number] == nil {
		(*b)[res.number] = new(T)
	}
	return (*b)[res.number]
}
