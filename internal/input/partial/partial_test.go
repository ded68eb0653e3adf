package partial_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/input/partial"
)

func TestOnlyWantedPartsAreCompared(t *testing.T) {
	const whole = `{"status": {"phase": "Bound", "n": 3, "size": "16777216"}, "finalizers": ["a/b", "c"], "items": [{"x": 1, "y": 2}], "on": true}`
	for name, c := range map[string]struct{ want, mismatch string }{
		"nothing wanted":              {`{}`, ""},
		"an equal part":               {`{"status": {"phase": "Bound"}, "on": true}`, ""},
		"another text":                {`{"status": {"phase": "Lost"}}`, "status.phase is Bound, not Lost"},
		"a wildcard":                  {`{"status": {"phase": "B*d"}}`, ""},
		"a number held as text":       {`{"status": {"size": 16777216}}`, ""},
		"a missing key":               {`{"spec": {"a": "b"}}`, "spec.a is not set, not b"},
		"any value of a missing key":  {`{"spec": {"a": "*"}}`, "spec.a is not set, not *"},
		"a zero value that is absent": {`{"readonly": false, "count": 0}`, ""},
		"null for an absent key":      {`{"spec": null}`, ""},
		"null for a present key":      {`{"on": null}`, "on is true, not absent"},
		"one item of a list":          {`{"finalizers": ["c"]}`, ""},
		"part of an item":             {`{"items": [{"y": 2}]}`, ""},
		"an item that is not there":   {`{"finalizers": ["d"]}`, "finalizers is [a/b, c], not an item d"},
		"an empty list":               {`{"finalizers": []}`, "finalizers is [a/b, c], not an empty list"},
		"a map that is there":         {`{"status": {}}`, ""},
		"a map that is not there":     {`{"spec": {}}`, "spec is not set, not a map"},
		"nothing wanted of nothing":   {`{}`, ""},
		"an empty list of nothing":    {`{"owners": []}`, ""},
		"a map where a text is":       {`{"on": {"a": "b"}}`, "on is true, not a map"},
		"a list where a map is":       {`{"status": ["a"]}`, "status is {n: 3, phase: Bound, size: 16777216}, not a list"},
		"a text where a map is":       {`{"status": "a"}`, "status is {n: 3, phase: Bound, size: 16777216}, not a"},
	} {
		t.Run(name, func(t *testing.T) {
			var want, got any
			require.NoError(t, json.Unmarshal([]byte(c.want), &want))
			require.NoError(t, json.Unmarshal([]byte(whole), &got))
			assert.Equal(t, c.mismatch, partial.Mismatch(want, got))
		})
	}
}

func TestAStarStandsForAnyText(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		matches       bool
	}{
		{"", "", true}, {"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a/b", true},
		{"a*", "ab", true}, {"*b", "ab", true}, {"a*b", "ab", true}, {"a*a", "a", false},
		{"*b*", "abc", true}, {"a*c*e", "abcde", true}, {"a*d*c*e", "abcde", false},
	} {
		assert.Equal(t, c.matches, partial.Wildcard(c.pattern, c.text), "%q of %q", c.pattern, c.text)
	}
}
