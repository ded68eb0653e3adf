package expression_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario/expression"
)

type run struct{}

func (run) Objects(name string) ([]any, error) {
	if name != "pods" {
		return nil, fmt.Errorf("there is no resource %q", name)
	}
	return []any{map[string]any{"metadata": map[string]any{"name": "web"}}}, nil
}

func (run) Calls() []any {
	return []any{
		map[string]any{"call": "NodeStageVolume", "code": "Internal", "node": "node-a"},
		map[string]any{"call": "NodeStageVolume", "code": "OK", "node": "node-a"},
	}
}

func (run) Events() []any                       { return []any{} }
func (run) Metrics(string) ([]string, error)    { return []string{"volumes_total 1"}, nil }
func (run) Files(node string) ([]string, error) { return []string{"plugins/ 750", node}, nil }
func (run) Elapsed() time.Duration              { return time.Minute }

func TestAConditionIsAboutOneObject(t *testing.T) {
	claim := map[string]any{
		"metadata": map[string]any{"finalizers": []any{"a", "b"}},
		"status":   map[string]any{"phase": "Bound", "capacity": map[string]any{"storage": "1Gi"}, "count": int64(2)},
	}
	for text, want := range map[string]bool{
		`object.status.phase == "Bound"`:                              true,
		`object.status.phase == "Lost"`:                               false,
		`object.spec.volumeName == "x"`:                               false,
		`has(object.spec)`:                                            false,
		`"a" in object.metadata.finalizers`:                           true,
		`quantity(object.status.capacity.storage) >= quantity("1Gi")`: true,
		`object.status.count == 2`:                                    true,
		`object.?status.?phase.orValue("") == "Bound"`:                true,
	} {
		x, err := expression.Object(text)
		require.NoError(t, err, text)
		got, err := x.HoldsFor(claim)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestAStatementIsAboutTheWholeRun(t *testing.T) {
	for text, want := range map[string]bool{
		`calls.filter(c, c.call == "NodeStageVolume").size() == 2`: true,
		`calls.all(c, c.code == "OK")`:                             false,
		`events.size() == 0 && elapsed >= duration("60s")`:         true,
		`objects("pods").exists(p, p.metadata.name == "web")`:      true,
		`metrics("node-a").exists(m, m == "volumes_total 1")`:      true,
		`files("node-a").exists(f, f == "plugins/ 750")`:           true,
	} {
		x, err := expression.Run(text, run{})
		require.NoError(t, err, text)
		got, err := x.Holds(run{})
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

func TestAnExpressionThatCannotBeTrueOrFalseIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		`object.status.phase ==`: "Syntax error",
		`pod.status.phase == ""`: "undeclared reference to 'pod'",
		`"Bound"`:                "the expression gives string, not true or false",
	} {
		_, err := expression.Object(text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestAnUnknownResourceIsAnErrorOfTheEvaluation(t *testing.T) {
	x, err := expression.Run(`objects("podz").size() == 0`, run{})
	require.NoError(t, err)
	_, err = x.Holds(run{})
	assert.ErrorContains(t, err, `there is no resource "podz"`)
}

// The cost of an expression is counted, so that its evaluation stops after the same number of steps
// on every machine.
func TestTheStepsOfAnExpressionAreLimited(t *testing.T) {
	for text, want := range map[string]string{
		"lists.range(500).all(i, lists.range(500).all(j, i + j >= 0))":                                  "",
		"lists.range(10000).all(i, lists.range(10000).all(j, lists.range(100).all(k, i + j + k >= 0)))": "it looks at more than 2000000 items, so it is given up",
		"lists.range(10000).exists(i, lists.range(10000).exists(j, i < 0)) || true":                     "it looks at more than 2000000 items, so it is given up",
		"sets.contains(lists.range(10000), lists.range(10000))":                                         "it looks at more than 2000000 items, so it is given up",
		"sets.equivalent(lists.range(10000), lists.range(10000))":                                       "it looks at more than 2000000 items, so it is given up",
		"sets.intersects(lists.range(10000), lists.range(10000).map(i, -1 - i))":                        "it looks at more than 2000000 items, so it is given up",
		"('a'" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 10) + ").size() > 0":                     "replace: a text has at most 4194304 bytes",
		"['a']" + strings.Repeat(".map(x, x + x)", 40) + " == []":                                       "+: a text has at most 4194304 bytes",
		"lists.range(10000).map(i, '" + strings.Repeat("a", 500) + "').join('').size() > 0":             "join: a text has at most 4194304 bytes",
		"lists.range(10000000000).size() > 0":                                                           "lists.range(10000000000): a list has at most 10000 items",
	} {
		x, err := expression.Run(text, run{})
		require.NoError(t, err, text)
		holds, err := x.Holds(run{})
		if want == "" {
			require.NoError(t, err)
			assert.True(t, holds)
			continue
		}
		assert.ErrorContains(t, err, want, text)
		assert.Contains(t, x.Because(run{}), want)
	}
}

func TestWhyAStatementDoesNotHold(t *testing.T) {
	for text, want := range map[string]string{
		`calls.filter(c, c.call == "NodeStageVolume").size() == 3`:              `calls.filter(c, c.call == "NodeStageVolume").size() is 2`,
		`size(events) == 0 && size(calls) == 0`:                                 `size(calls) is 2`,
		`size(events) == 0 && !(size(calls) == 2)`:                              `!(size(calls) == 2) is false`,
		`elapsed < duration("5s")`:                                              `elapsed is duration("60s")`,
		`calls.map(c, c.code) == ["OK"]`:                                        `calls.map(c, c.code) is ["Internal", "OK"]`,
		`calls.all(c, c.code == "OK")`:                                          ``,
		`calls.exists(c, c.method == "NodeStageVolume")`:                        `no such key: method`,
		`metrics("node-a")[0] == "volumes_total 2"`:                             `metrics("node-a")[0] is "volumes_total 1"`,
		`objects("pods")[0].metadata.name == "log" || elapsed < duration("5s")`: ``,
	} {
		x, err := expression.Run(text, run{})
		require.NoError(t, err, text)
		holds, err := x.Holds(run{})
		require.NoError(t, err, text)
		assert.False(t, holds, text)
		assert.Equal(t, want, x.Because(run{}), text)
	}
}

// Bounded functions give the same results as the library's.
func TestBoundedFunctionsEqualTheLibrary(t *testing.T) {
	for _, text := range []string{
		"sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2]) && sets.contains([], []) && sets.contains([1], [1.0, 1u])",
		"sets.equivalent([1, 2, 2], [2, 1]) && !sets.equivalent([1], [1, 2]) && sets.equivalent([], [])",
		"sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2]) && !sets.intersects([], [])",
		"'hello'.replace('l', 'L') == 'heLLo' && 'hello'.replace('l', '', 1) == 'helo' && 'ab'.replace('', '-') == '-a-b-' && 'aa'.replace('a', 'b', 0) == 'aa' && 'aa'.replace('a', 'b', -1) == 'bb'",
		"['a', '', 'b'].join('-') == 'a--b' && ['a', 'b'].join() == 'ab' && [].join(',') == '' && ['', ''].join('-') == '-'",
		"'a' + 'b' == 'ab' && 1 + 2 == 3 && [1] + [2] == [1, 2] && duration('1s') + duration('1s') == duration('2s') && b'a' + b'b' == b'ab'",
		"lists.range(3) == [0, 1, 2] && lists.range(0) == []",
	} {
		x, err := expression.Run(text, run{})
		require.NoError(t, err, text)
		holds, err := x.Holds(run{})
		require.NoError(t, err, text)
		assert.True(t, holds, text)
	}
}
