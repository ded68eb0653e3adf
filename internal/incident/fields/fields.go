// Package fields reads values of objects in decoded JSON.
package fields

// At returns the value at a path; nil if there is none.
func At(object any, path ...string) any {
	for _, name := range path {
		inner, _ := object.(map[string]any)
		object = inner[name]
	}
	return object
}

// Text returns the string at a path; "" if there is none.
func Text(object any, path ...string) string {
	s, _ := At(object, path...).(string)
	return s
}

// List returns the objects of the list at a path.
func List(object any, path ...string) (all []map[string]any) {
	items, _ := At(object, path...).([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// Patch applies a JSON merge patch to an object.
func Patch(object, by map[string]any) {
	for name, value := range by { // in any order: names differ
		inner, isObject := value.(map[string]any)
		before, was := object[name].(map[string]any)
		switch {
		case value == nil:
			delete(object, name)
		case isObject && was:
			Patch(before, inner)
		default:
			object[name] = value
		}
	}
}
