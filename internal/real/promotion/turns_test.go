package promotion

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A subject that affects a node waits until the others have ended. Subjects with the same driver
// run sequentially.
func TestSubjectsTakeTurnsOnACluster(t *testing.T) {
	target := &Target{turns: newTurns()}
	first, second, alone := Subject{Name: "a.yaml"}, Subject{Name: "b.yaml"}, Subject{Name: "c.yaml", Alone: true}
	program := Subject{Name: "d.yaml", Owned: []string{"disk.example.com"}}

	begins := func(s Subject) <-chan func() {
		began := make(chan func(), 1)
		go func() { began <- target.Turn(s) }()
		return began
	}
	one, two := <-begins(first), <-begins(second) // at once
	last := begins(alone)
	one()
	assert.Empty(t, last)
	two()
	(<-last)()

	running := <-begins(program)
	next := begins(program)
	other := <-begins(first) // it does not hold the driver's lock
	assert.Empty(t, next)
	running()
	(<-next)()
	other()
}
