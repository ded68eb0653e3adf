package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a program that waits, one that computes, and one with a child that computes, when their
// patience is measured, then the waiting program uses all of its patience, and the others use a
// part.
func TestPatienceRunsSlowerWhileAProgramOrItsChildComputes(t *testing.T) {
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	const look = 200 * time.Millisecond
	for command, waits := range map[string]bool{
		"exec sleep 1000": true, "while :; do :; done": false, "sh -c 'while :; do :; done' & sleep 1000": false,
	} {
		p, err := m.Start(shell(command))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return p.Working() != waits }, time.Minute, time.Millisecond)
		meter := machine.NewMeter(p, time.Second, 20*time.Second)
		meter.Spent(0)
		time.Sleep(look)
		if spent := meter.Spent(look); waits {
			assert.InDelta(t, look, spent, float64(look/4), command)
		} else {
			assert.Less(t, spent, look/10, command)
		}
		require.NoError(t, p.Kill())
	}
}
