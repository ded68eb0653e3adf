package store

// byResource holds a value for each resource of a store, by the resource's number.
type byResource[T any] []T

// of returns the value of a resource; nil if there is none yet.
func (b byResource[T]) of(res *Resource) *T {
	if res.number < len(b) {
		return &b[res.number]
	}
	return nil
}

// on returns the value of a resource, and adds it if it is missing. The pointer is valid until
// another resource is added.
func (b *byResource[T]) on(res *Resource) *T {
	if missing := 1 + res.number - len(*b); missing > 0 {
		*b = append(*b, make([]T, missing)...)
	}
	return &(*b)[res.number]
}
