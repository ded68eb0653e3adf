package diff

import (
	"path"
	"strings"
)

// compareRequests compares every field of the requests in both traces.
func (d *comparison) compareRequests(pairs map[series][]matched) {
	for _, on := range sortedSeries(pairs) {
		for _, m := range pairs[on] {
			d.compared(Requests)
			for _, f := range unequalFields(m.a.request, m.b.request) {
				d.differ(Requests, on.String(), path.Base(m.a.method)+": "+f.path, []Row{
					{A: cell(m.a.at, f.a), B: cell(m.b.at, f.b)},
				}, 0)
			}
		}
	}
}

// unequal is a field in which two values differ.
type unequal struct{ path, a, b string }

// unequalFields walks two values and returns the innermost fields that differ.
func unequalFields(a, b any) []unequal {
	var found []unequal
	var walk func(at []string, a, b any)
	walk = func(at []string, a, b any) {
		if canonical(a) == canonical(b) {
			return
		}
		mapA, okA := a.(map[string]any)
		mapB, okB := b.(map[string]any)
		if !okA || !okB {
			found = append(found, unequal{strings.Join(at, "."), shown(a), shown(b)})
			return
		}
		for _, key := range union(mapA, mapB, strings.Compare) {
			inA, there := mapA[key]
			if !there {
				inA = absent
			}
			inB, there := mapB[key]
			if !there {
				inB = absent
			}
			walk(append(at[:len(at):len(at)], key), inA, inB)
		}
	}
	walk(nil, a, b)
	return found
}

// absent represents a missing field.
var absent = missing{}

type missing struct{}

// MarshalJSON renders a missing field as a text that differs from every JSON value.
func (missing) MarshalJSON() ([]byte, error) { return []byte(`"(absent)"`), nil }

func shown(v any) string {
	if _, gone := v.(missing); gone {
		return "(absent)"
	}
	if s, ok := v.(string); ok && s != "" {
		return s
	}
	return canonical(v)
}

func compact(v any) string {
	if v == nil {
		return ""
	}
	return canonical(v)
}
