package excerpt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/excerpt"
)

// Long names may differ at either end.
func TestLongWordsAreCutInTheMiddle(t *testing.T) {
	long := "a" + strings.Repeat("ä", 10000) + "z"
	short := excerpt.Words("pod " + long + " runs\nvolume " + long + "\n")
	assert.Less(t, len([]rune(short)), 700)
	assert.Regexp(t, `^pod aä+…ä+z runs\nvolume aä+…ä+z\n$`, short)
	assert.Equal(t, "pod web runs\n"+strings.Repeat("word ", 200), excerpt.Words("pod web runs\n"+strings.Repeat("word ", 200)))
	assert.Equal(t, "    replay  csisim run "+long, excerpt.Words("    replay  csisim run "+long), "a command stays one")
}

func TestLongPathsKeepTheirEnds(t *testing.T) {
	assert.Equal(t, "of …/vol-1/data at …/9bb8/globalmount, and /a/b/c",
		excerpt.Paths("of /run/state/volumes/vol-1/data at /var/lib/kubelet/plugins/9bb8/globalmount, and /a/b/c"))
}

func TestLinesAreBrokenBetweenWords(t *testing.T) {
	assert.Equal(t, "one two three four\nfive\nsix", excerpt.Wrap("one two three four five\nsix", 20))
	assert.Equal(t, strings.Repeat("x", 30)+"\nshort", excerpt.Wrap(strings.Repeat("x", 30)+" short", 20), "a word stays whole")
	assert.Equal(t, "one two three four five", excerpt.Wrap("one two three four five", 0))
}

func TestALineOfFactsIsBrokenBetweenFacts(t *testing.T) {
	const line = "4 runs passed · 12 calls · 3 min in 1.5 s"
	assert.Equal(t, line, excerpt.WrapFacts(line, 0))
	assert.Equal(t, line, excerpt.WrapFacts(line, 41))
	assert.Equal(t, "4 runs passed · 12 calls\n  3 min in 1.5 s", excerpt.WrapFacts(line, 40))
	assert.Equal(t, "4 runs passed\n  12 calls\n  3 min in 1.5 s", excerpt.WrapFacts(line, 16))
}
