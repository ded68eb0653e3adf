package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// difference is a result that only one side has.
type difference struct{ kind, side, what string }

var numbersInPath = regexp.MustCompile(`\[[^]]*\]`)

// signature leaves out the index in a list, and the value.
func (d difference) signature() string {
	field, rest, _ := strings.Cut(d.what, ": ")
	reason, _, _ := strings.Cut(rest, ": ")
	return strings.TrimSpace(strings.Join([]string{d.kind, d.side, numbersInPath.ReplaceAllString(field, "[]"), reason}, " "))
}

// compare returns the results that occur only on one side, each as often as it occurs.
func compare(kind string, theirs, ours []string) (all []difference) {
	count := map[string]int{}
	for _, m := range theirs {
		count[m]++
	}
	for _, m := range ours {
		count[m]--
	}
	for _, m := range slices.Sorted(maps.Keys(count)) {
		switch {
		case count[m] > 0:
			all = append(all, difference{kind, "missed", m})
		case count[m] < 0:
			all = append(all, difference{kind, "invented", m})
		}
	}
	return all
}

// compareWrites compares the outcomes of one write. Kubernetes finds some mistakes in the random
// order of a map; csisim's order is fixed.
func compareWrites(write, kind string, kubernetes, csisim func() outcome) (theirs outcome, all []difference) {
	theirs = kubernetes()
	if theirs.panicked {
		return theirs, nil
	}
	name, ours := strings.TrimSpace(write+" "+kind), csisim()
	if again := csisim(); !again.is(ours) {
		all = append(all, difference{"unsteady " + name, "", fmt.Sprintf("\n\tonce  %s\n\tagain %s", ours, again)})
	}
	wrong := compare(name, theirs.mistakes, ours.mistakes)
	if len(wrong) == 0 && !slices.Equal(theirs.mistakes, ours.mistakes) && isSteady(theirs, kubernetes) {
		wrong = append(wrong, difference{"order of " + name, "", fmt.Sprintf("\n\ttheirs %s\n\tours   %s", theirs, ours)})
	}
	all = append(all, wrong...)
	if theirs.object == nil || ours.object == nil {
		return theirs, all
	}
	all = append(all, compare("outcome of "+name, fieldsOf(theirs.object), fieldsOf(ours.object))...)
	return theirs, append(all, compare("warning of "+name, theirs.warnings, ours.warnings)...)
}

// isSteady reports whether the mistakes have the same order each time.
func isSteady(first outcome, again func() outcome) bool {
	for range 64 {
		if !slices.Equal(again().mistakes, first.mistakes) {
			return false
		}
	}
	return true
}

// fieldsOf returns the fields of an object with their values, except empty ones.
func fieldsOf(obj runtime.Object) (all []string) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return []string{err.Error()}
	}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, v := range value {
				walk(path+"."+key, v)
			}
		case []any:
			for i, v := range value {
				walk(fmt.Sprintf("%s[%d]", path, i), v)
			}
		case nil:
		default:
			all = append(all, fmt.Sprintf("%s: value: %v", strings.TrimPrefix(path, "."), value))
		}
	}
	walk("", fields)
	return all
}
