// Package partial compares a wanted part of an object or a message with the whole. It ignores
// everything that a scenario does not mention.
package partial

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Mismatch describes in one line the first difference between two values of decoded JSON. It is
// empty if "got" contains everything in "want". Maps may have more keys than in want, and lists
// more items. An empty list in want matches only an empty list, and an empty map must be present.
// In want, * matches any text, and null matches a missing key. A zero value equals an omitted one,
// as in protocol buffers.
func Mismatch(want, got any) string { return mismatch("", want, got) }

func mismatch(path string, want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		return mismatchMap(path, want, got)
	case []any:
		return mismatchList(path, want, got)
	}
	if sameScalar(want, got) {
		return ""
	}
	if want == nil {
		return differs(path, "absent", got)
	}
	return differs(path, want, got)
}

func mismatchMap(path string, want map[string]any, got any) string {
	fields, ok := got.(map[string]any)
	if !ok && (got != nil || len(want) == 0 && path != "") {
		return differs(path, "a map", got)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if found := mismatch(join(path, key), want[key], fields[key]); found != "" {
			return found
		}
	}
	return ""
}

func mismatchList(path string, want []any, got any) string {
	items, ok := got.([]any)
	if !ok && got != nil {
		return differs(path, "a list", got)
	}
	if len(want) == 0 && len(items) > 0 {
		return differs(path, "an empty list", got)
	}
	for _, item := range want {
		if !slices.ContainsFunc(items, func(candidate any) bool { return Mismatch(item, candidate) == "" }) {
			return differs(path, fmt.Sprintf("an item %s", Text(item)), got)
		}
	}
	return ""
}

func sameScalar(want, got any) bool {
	if got == nil {
		return want == nil || reflect.ValueOf(want).IsZero()
	}
	switch got.(type) {
	case map[string]any, []any:
		return false
	}
	return want != nil && Wildcard(Text(want), Text(got))
}

func differs(path string, want, got any) string {
	if path == "" {
		return fmt.Sprintf("is %s, not %s", Text(got), Text(want))
	}
	return fmt.Sprintf("%s is %s, not %s", path, Text(got), Text(want))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Text returns a decoded JSON value as YAML in one line. Whole numbers are equal if they have the
// same text, as text, integer or float.
func Text(value any) string {
	switch value := value.(type) {
	case nil:
		return "not set"
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case map[string]any:
		parts := make([]string, 0, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			parts = append(parts, key+": "+Text(value[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = Text(item)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(value)
}
