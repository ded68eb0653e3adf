package volume

import "slices"

// WithoutFinalizers is the list without those that are gone. The list itself stays as
// it is: it may be that of a stored object.
func WithoutFinalizers(list []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(gone, name) })
}
