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
