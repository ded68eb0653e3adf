package kind

import "github.com/csisim/csisim/internal/world/store"

// The store and the REST API use objects of any type. A kind's file uses the kind's Go type. The
// functions here convert rules and columns; nil functions stay nil.

// typed returns an object as its Go type; nil stays nil.
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

// selectable converts the field labels of a kind.
func selectable[T store.Object](read map[string]func(T) string) map[string]func(store.Object) string {
	labels := map[string]func(store.Object) string{}
	for label, f := range read { // any order: the result is a map, too
		labels[label] = from(f)
	}
	return labels
}
