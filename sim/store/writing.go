package store

// WriteOption says how an object is written.
type WriteOption func(*writing)

type writing struct {
	dry    bool
	patch  bool
	finish func(obj, old Object) error
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

func writingOf(opts []WriteOption) (w writing) {
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
