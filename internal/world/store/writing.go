package store

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WriteOption says how an object is written.
type WriteOption func(*writing)

type writing struct {
	dry    bool
	patch  bool
	finish func(obj, old Object) error
	check  func(obj, old Object) field.ErrorList
}

// DryRun checks everything, and stores nothing.
func DryRun() WriteOption { return func(w *writing) { w.dry = true } }

// Patched says that the object was made out of the stored one: a uid in it that is
// not the stored one is a forbidden change, not a precondition.
func Patched() WriteOption { return func(w *writing) { w.patch = true } }

// Finish sees an object that has its defaults, before admission completes it and it
// is validated. old is what it replaces, nil for a new object.
func Finish(finish func(obj, old Object) error) WriteOption {
	return func(w *writing) { w.finish = finish }
}

// Checked validates the object by a check of the caller's instead of those of its kind.
// old is what it replaces, nil for a new object.
func Checked(check func(obj, old Object) field.ErrorList) WriteOption {
	return func(w *writing) { w.check = check }
}

// writingOf costs nothing where there are no options.
func writingOf(opts []WriteOption) writing {
	if len(opts) == 0 {
		return writing{}
	}
	return collected(opts)
}

func collected(opts []WriteOption) (w writing) {
	for _, opt := range opts {
		opt(&w)
	}
	return w
}

func (w writing) finished(obj, old Object) error {
	if w.finish == nil {
		return nil
	}
	return w.finish(obj, old)
}
