package apiserver

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each line has its time, at any start offset, also if a line is read in pieces.
func TestALogIsReadWithTheTimesOfItsLines(t *testing.T) {
	log, stamps := &bytes.Buffer{}, &bytes.Buffer{}
	r := newStampedReader(log, 0, stamps)
	read := func() string {
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		return string(text)
	}
	assert.Empty(t, read())
	stamps.WriteString("0 T1\n6 T2\n")
	log.WriteString("first\nsec")
	assert.Equal(t, "T1 first\nT2 sec", read())
	log.WriteString("ond\n")
	assert.Equal(t, "ond\n", read())
	stamps.WriteString("13 T3\n")
	log.WriteString("third\n")
	assert.Equal(t, "T3 third\n", read())

	text, err := io.ReadAll(newStampedReader(bytes.NewBufferString("second\nthird\n"), 6, bytes.NewBufferString("0 T1\n6 T2\n13 T3\n")))
	require.NoError(t, err)
	assert.Equal(t, "T2 second\nT3 third\n", string(text))
}
