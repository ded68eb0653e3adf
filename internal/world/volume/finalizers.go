package volume

import "slices"

// WithoutFinalizers returns the list without some finalizers. It does not modify the list, which
// may belong to a stored object.
func WithoutFinalizers(list []string, gone ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(gone, name) })
}
