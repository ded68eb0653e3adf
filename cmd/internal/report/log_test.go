package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The last lines of a program's log contain the reason for its exit. In other texts the first lines
// matter most.
func TestTheEndOfALogIsPrintedToItsEnd(t *testing.T) {
	log := "command: driver\n  the end of driver-node-a-1.log:\n    a\n    b\n    c\n    d\n    e\n    ValueError: the reason"
	assert.Equal(t, "command: driver\n  the end of driver-node-a-1.log:\n  … 2 lines (-v prints all)\n    c\n    d\n    e\n    ValueError: the reason", firstLines(log))
	assert.Equal(t, "the end of x.log:\n  a\n  b", firstLines("the end of x.log:\n  a\n  b"))
	assert.Equal(t, "1\n2\n3\n4\n5\n6\n… and 1 more line (-v prints all)", firstLines("1\n2\n3\n4\n5\n6\n7"))
}
