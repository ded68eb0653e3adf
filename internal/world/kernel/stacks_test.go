package kernel

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Consecutive runs use the same stacks, including those of crashed processes, and Close loses none.
func TestConsecutiveRunsReuseStacks(t *testing.T) {
	var stacks Stacks
	defer stacks.Close()
	var first []*coroutine
	for range 3 {
		k := New(Options{Stacks: &stacks})
		unwound := 0
		var used []*coroutine
		for range 4 {
			k.Spawn(nil, "sleeper", func(p *Process) {
				used = append(used, p.co)
				defer func() {
					unwound++
					p.Sleep(time.Second) // giving way while unwinding does not return
					unwound++
				}()
				p.Sleep(time.Hour)
			})
		}
		group := NewGroup("victim")
		k.Spawn(group, "victim", func(p *Process) {
			used = append(used, p.co)
			p.Park("for ever")
			unwound += 100
		})
		k.Spawn(nil, "killer", func(p *Process) {
			used = append(used, p.co)
			p.Sleep(time.Second)
			group.Crash()
			assert.Len(t, stacks.idle, 1)
		})
		assert.Equal(t, Deadline, k.Run(Until{At: time.Minute}))
		k.Close()
		assert.Equal(t, 4, unwound)
		assert.Len(t, stacks.idle, 6)
		if first == nil {
			first = used
		}
		assert.ElementsMatch(t, first, used)
	}
	idle := stacks.idle
	stacks.Close()
	for _, co := range idle {
		_, goesOn := co.next()
		assert.False(t, goesOn)
	}
}

func TestClosedStacksKeepNothing(t *testing.T) {
	stacks := Stacks{}
	k := New(Options{Stacks: &stacks})
	k.Spawn(nil, "sleeper", func(p *Process) { p.Sleep(time.Hour) })
	k.Run(Until{At: time.Second})
	stacks.Close()
	k.Close()
	assert.Empty(t, stacks.idle)
}
