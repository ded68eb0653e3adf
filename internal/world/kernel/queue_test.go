package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheReadyQueueKeepsItsOrderAfterRemovals(t *testing.T) {
	var q queue
	var expected []*Process
	chance := NewRandom(7)
	draw := func(n int) int { return chance.Choose(Choice{N: n}) }
	for step := range 20_000 {
		switch n := len(expected); {
		case n == 0 || draw(2) == 0 && n < 2_000 || n < 2_000 && step < 2_000:
			p := &Process{id: step}
			q.push(p)
			expected = append(expected, p)
		case draw(10) == 0:
			i := draw(n)
			q.drop(expected[i])
			expected = slices.Delete(expected, i, i+1)
		default:
			i := draw(n) * draw(2) // often the first
			require.Same(t, expected[i], q.at(i))
			require.Same(t, expected[i], q.take(i))
			expected = slices.Delete(expected, i, i+1)
		}
		require.Equal(t, len(expected), q.len())
	}
	for _, p := range expected {
		require.Same(t, p, q.take(0))
	}
	require.Zero(t, q.len())
	require.Empty(t, q.blocks)
}

// BenchmarkChoice measures a choice among very many ready processes, and the switch to the chosen
// one. The number of processes hardly matters.
func BenchmarkChoice(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("ready=%d", n), func(b *testing.B) {
			k := New(Options{Strategy: NewRandom(1), MaxStepsPerInstant: 1 << 40})
			left := b.N
			for i := range n {
				k.Spawn(nil, fmt.Sprint(i), func(p *Process) {
					for left > 0 {
						left--
						p.Yield("write")
					}
				})
			}
			b.ResetTimer()
			k.Run(Until{})
			b.StopTimer()
			k.Close()
		})
	}
}
