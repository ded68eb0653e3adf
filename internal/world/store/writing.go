package store

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WriteOption is an option of a write.
type WriteOption func(*writing)

type writing struct {
	dry    bool
	patch  bool
	finish func(obj, old Object) error
	check  func(obj, old Object) field.ErrorList
}

// DryRun checks everything, and stores nothing.
func DryRun() WriteOption { return func(w *writing) { w.dry = true } }

// Patched means that the object was derived from the stored one. Another uid is then a forbidden
// change, not a precondition.
func Patched() WriteOption { return func(w *writing) { w.patch = true } }

// Finish calls finish for an object with its defaults, before it is admitted and validated. old is
// the replaced object; nil for a new one.
func Finish(finish func(obj, old Object) error) WriteOption {
	return func(w *writing) { w.finish = finish }
}

// Checked validates the object by the caller's check instead of the check of its kind. old is the
// replaced object; nil for a new one.
func Checked(check func(obj, old Object) field.ErrorList) WriteOption {
	return func(w *writing) { w.check = check }
}

// writingOf costs nothing without options.
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
