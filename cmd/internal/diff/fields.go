package diff

import (
	"maps"
	"slices"
)

// field follows a path into nested maps; nil if it does not exist.
func field(object any, path ...string) any {
	for _, name := range path {
		m, ok := object.(map[string]any)
		if !ok {
			return nil
		}
		object = m[name]
	}
	return object
}

// text returns the string at a path; "" if there is none.
func text(object any, path ...string) string {
	s, _ := field(object, path...).(string)
	return s
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

// has reports whether the path exists, even if the value is null.
func has(object any, path ...string) bool {
	m, ok := field(object, path[:len(path)-1]...).(map[string]any)
	if !ok {
		return false
	}
	_, ok = m[path[len(path)-1]]
	return ok
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// eachString calls see with every string in a value and the field that contains it.
func eachString(value any, see func(key, value string)) {
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			see(key, v)
		case []any:
			for _, item := range v {
				walk(key, item)
			}
		case map[string]any:
			for _, k := range sortedKeys(v) {
				walk(k, v[k])
			}
		}
	}
	walk("", value)
}
