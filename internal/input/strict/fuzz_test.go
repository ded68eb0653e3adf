package strict_test

import (
	"bytes"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/input/strict"
)

// FuzzDecode checks that the reader never panics, and that each problem and each position is within
// the file.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{
		"", "\n", "a:", "a: [", "- {", "\t", "a: *b", "a: &a [*a]", "? ", "--- \n---\n", "a: |\n  b\n", "\xff", "a\r\nb", "a: \u2028b: c",
		header + "steps:\n- wait: {pod: 3}\n- <<: 1\n- reboot:\n", header + "cluster: {disks: [a, {name: 1}]}\nextra: [.nan, !!int x, 2024-01-01]\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		document, problems := strict.Decode("x.yaml", text, &scenario{})
		lines := bytes.Split(text, []byte("\n"))
		within := func(line, column int) {
			if assert.True(t, line >= 1 && line <= len(lines), "line %d of %d", line, len(lines)) {
				assert.True(t, column >= 1 && column <= utf8.RuneCount(lines[line-1])+1, "column %d in %q", column, lines[line-1])
			}
		}
		for _, problem := range problems {
			within(problem.Line, problem.Column)
			assert.NotContains(t, problem.Error(), "\n")
		}
		if document != nil {
			for _, at := range document.Positions {
				within(at.Line, at.Column)
			}
		}
	})
}
