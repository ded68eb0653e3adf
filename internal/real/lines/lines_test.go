package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
)

// Lines may be long, empty, or unterminated.
func TestEachReadsLinesOfAnyLength(t *testing.T) {
	long := strings.Repeat("7", 1<<17)
	var got []string
	assert.Equal(t, io.EOF, Each(strings.NewReader("first\n\n"+long+"\nlast"), func(line string) { got = append(got, line) }))
	assert.Equal(t, []string{"first", "", long, "last"}, got)

	broken := errors.New("broken")
	assert.Equal(t, broken, Each(iotest.ErrReader(broken), func(string) { t.Error("there is none") }))
}
