package apiserver_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// comparison compares answers to recorded answers. Placeholders in recordings match values that
// vary between runs.
type comparison struct {
	bound       map[string]string // placeholder to value
	started     time.Time
	differences []string
}

func (c *comparison) differ(path, format string, args ...any) {
	c.differences = append(c.differences, path+": "+fmt.Sprintf(format, args...))
}

// notCompared are fields that are independent of the behaviour.
var notCompared = []string{"storageVersionHash", "description"}

func (c *comparison) compare(path string, want, got any) {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			c.differ(path, "want an object, got %v", got)
			return
		}
		c.compareObjects(path, w, g)
	case []any:
		g, ok := got.([]any)
		if !ok {
			c.differ(path, "want a list, got %v", got)
			return
		}
		c.compareLists(path, w, g)
	case string:
		g, ok := got.(string)
		if !ok || !c.matches(w, g) {
			c.differ(path, "\n    want %q\n    got  %v", w, got)
		}
	default:
		if want != got {
			c.differ(path, "want %v, got %v", want, got)
		}
	}
}

func (c *comparison) compareObjects(path string, want, got map[string]any) {
	keys := make([]string, 0, len(want)+len(got))
	for key := range want {
		keys = append(keys, key)
	}
	for key := range got {
		if _, both := want[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		w, wanted := want[key]
		g, given := got[key]
		switch {
		case slices.Contains(notCompared, key):
		case key == "columnDefinitions" || wanted && given:
			c.compare(path+"."+key, w, g)
		case wanted:
			c.differ(path, "lacks %s: %v", key, w)
		default:
			c.differ(path, "has %s: %v", key, g)
		}
	}
}

func (c *comparison) compareLists(path string, want, got []any) {
	if strings.HasSuffix(path, "managedFields") {
		want, got = sortedEntries(want), sortedEntries(got)
	}
	if strings.HasSuffix(path, "events") {
		want, got = withoutBookmarks(want), withoutBookmarks(got)
	}
	if len(want) != len(got) {
		c.differ(path, "want %d entries, got %d: %v", len(want), len(got), got)
	}
	for i := range min(len(want), len(got)) {
		c.compare(fmt.Sprintf("%s[%d]", path, i), want[i], got[i])
	}
}

// sortedEntries returns entries in an order that does not depend on the second in which they were
// written.
func sortedEntries(entries []any) []any {
	return slices.SortedStableFunc(slices.Values(entries), func(a, b any) int {
		of := func(entry any) string {
			e, _ := entry.(map[string]any)
			return fmt.Sprint(e["operation"], e["manager"], e["subresource"])
		}
		return strings.Compare(of(a), of(b))
	})
}

// withoutBookmarks removes plain bookmarks; their number depends on timing.
func withoutBookmarks(events []any) []any {
	return slices.DeleteFunc(slices.Clone(events), func(event any) bool {
		e, _ := event.(map[string]any)
		return e["type"] == "BOOKMARK" && !strings.Contains(fmt.Sprint(e["object"]), "initial-events-end")
	})
}

var placeholder = regexp.MustCompile(`<([a-z]+)(\d*)(\+?)(?:\+?(\d+)s?)?>`)

// matches reports whether a text equals the wanted one, and binds the placeholders to the values in
// it.
func (c *comparison) matches(want, got string) bool {
	found := placeholder.FindAllStringSubmatchIndex(want, -1)
	if found == nil || want == got {
		return want == got
	}
	var pattern strings.Builder
	var names []string
	at := 0
	for _, m := range found {
		pattern.WriteString(regexp.QuoteMeta(want[at:m[0]]))
		name := want[m[0]:m[1]]
		pattern.WriteString(formOf(name))
		names = append(names, name)
		at = m[1]
	}
	pattern.WriteString(regexp.QuoteMeta(want[at:]))
	values := regexp.MustCompile("^(?s:" + pattern.String() + ")$").FindStringSubmatch(got)
	if values == nil {
		return false
	}
	for i, name := range names {
		if !c.bind(name, values[i+1]) {
			return false
		}
	}
	return true
}

// formOf returns the pattern of a placeholder's values.
func formOf(name string) string {
	switch {
	case strings.HasPrefix(name, "<rv"), strings.HasPrefix(name, "<iat"):
		return `(\d+)`
	case strings.HasPrefix(name, "<uid"):
		return `([0-9a-f-]{36})`
	case name == "<time>", strings.HasPrefix(name, "<now+"), strings.HasPrefix(name, "<deletion+"):
		return `(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)`
	case strings.HasPrefix(name, "<suffix"):
		return `([a-z0-9]{5})`
	case name == "<age>":
		return `(\d+[smhd]\S*)`
	}
	return `(.*)`
}

func (c *comparison) bind(name, value string) bool {
	switch {
	case strings.HasPrefix(name, "<now+"), strings.HasPrefix(name, "<deletion+"):
		return c.isLater(name, value)
	case strings.HasSuffix(name, "+>"):
		least, ok := c.bound[strings.Replace(name, "+>", ">", 1)]
		return !ok || !less(value, least)
	case !strings.ContainsAny(name, "0123456789"):
		return true
	}
	if before, ok := c.bound[name]; ok {
		return before == value
	}
	c.bound[name] = value
	return true
}

// isLater: "<now+3600s>" is 3,600 s after the request.
func (c *comparison) isLater(name, value string) bool {
	text := strings.TrimSuffix(name[strings.Index(name, "+")+1:], "s>")
	seconds, err := strconv.Atoi(text)
	at, err2 := time.Parse(time.RFC3339, value)
	if err != nil || err2 != nil {
		return false
	}
	off := at.Sub(c.started.Add(time.Duration(seconds) * time.Second))
	return off > -2*time.Second && off < time.Minute
}

func less(a, b string) bool {
	x, _ := strconv.ParseUint(a, 10, 64)
	y, _ := strconv.ParseUint(b, 10, 64)
	return x < y
}
