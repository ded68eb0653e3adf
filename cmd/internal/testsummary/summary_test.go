package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePrintedPartOfTheTests(t *testing.T) {
	skip := func(name, why string) string {
		return `{"Action":"output","Package":"p","Test":"` + name + `","Output":"    a_test.go:7: ` + why + `\n"}
{"Action":"skip","Package":"p","Test":"` + name + `"}`
	}
	cases := map[string]struct {
		lines []string
		want  string
	}{
		"all pass": {lines: []string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}`,
			`{"Action":"pass","Package":"p","Test":"TestA"}`,
			`{"Action":"pass","Package":"p","Elapsed":1.5}`,
		}, want: "ok  \tp\t1.500s\n1 tests and cases passed, 0 were skipped\n"},
		"some are skipped": {lines: []string{
			skip("TestA", "no chromium"), skip("TestB", "no namespaces"), skip("TestC", "no namespaces"),
			`{"Action":"pass","Package":"p","Elapsed":1}`, `{"Action":"skip","Package":"no tests"}`,
		}, want: "ok  \tp\t1.000s\n0 tests and cases passed, 3 were skipped\n    2  no namespaces\n    1  no chromium\n"},
		"one fails": {lines: []string{
			`{"Action":"output","Package":"p","Test":"TestA","Output":"want 1, got 2\n"}`,
			`{"Action":"fail","Package":"p","Test":"TestA"}`,
			`{"Action":"output","Package":"p","Output":"FAIL\tp\n"}`, `{"Action":"fail","Package":"p"}`,
		}, want: "want 1, got 2\nFAIL\tp\n0 tests and cases passed, 0 were skipped\n"},
		"one does not build": {lines: []string{
			`{"ImportPath":"p [p.test]","Action":"build-output","Output":"p.go:1: no\n"}`,
			`{"ImportPath":"p [p.test]","Action":"build-fail"}`, `{"Action":"fail","Package":"p"}`,
		}, want: "p.go:1: no\n0 tests and cases passed, 0 were skipped\n"},
		"a line that is not JSON": {lines: []string{"go: no such module"}, want: "go: no such module\n0 tests and cases passed, 0 were skipped\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			s := newSummary(&out)
			require.NoError(t, s.read(strings.NewReader(strings.Join(c.lines, "\n")+"\n")))
			s.finish()
			assert.Equal(t, c.want, out.String())
		})
	}
}
