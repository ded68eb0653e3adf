package kind

import "github.com/csisim/csisim/internal/world/store"

// The store and the REST API know an object by its kind, the file of a kind by its Go type. Rules
// and columns get from one to the other by what stands here: nil functions stay nil.

// typed is an object as its Go type; none stays none.
func typed[T store.Object](obj store.Object) (as T) {
	if obj == nil {
		return as
	}
	return obj.(T)
}

func on[T store.Object](f func(T)) func(store.Object) {
	if f == nil {
		return nil
	}
	return func(obj store.Object) { f(typed[T](obj)) }
}

func onBoth[T store.Object](f func(obj, old T)) func(obj, old store.Object) {
	if f == nil {
		return nil
	}
	return func(obj, old store.Object) { f(typed[T](obj), typed[T](old)) }
}

func from[T store.Object, R any](f func(T) R) func(store.Object) R {
	if f == nil {
		return nil
	}
	return func(obj store.Object) R { return f(typed[T](obj)) }
}

func fromBoth[T store.Object, R any](f func(obj, old T) R) func(obj, old store.Object) R {
	if f == nil {
		return nil
	}
	return func(obj, old store.Object) R { return f(typed[T](obj), typed[T](old)) }
}

// selectable are the field labels of a kind, and how they are read.
func selectable[T store.Object](read map[string]func(T) string) map[string]func(store.Object) string {
	labels := map[string]func(store.Object) string{}
	for label, f := range read { // any order: it is a map again
		labels[label] = from(f)
	}
	return labels
}
