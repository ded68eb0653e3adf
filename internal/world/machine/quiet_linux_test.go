package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given a program with a computing child, then the program is not quiet. It becomes quiet when the
// child is killed, and when the program has ended.
func TestAProgramIsQuietWhenAllItsProcessesWait(t *testing.T) {
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	p, err := m.Start(shell("sh -c 'while :; do :; done' & sleep 0.3; kill -9 $!; sleep 1000"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return !p.Quiet() }, time.Minute, time.Millisecond)
	require.Eventually(t, p.Quiet, time.Minute, time.Millisecond)
	require.NoError(t, p.Kill())
	assert.True(t, p.Quiet())
}

// Given a program that has started a daemon through a finished process, then the daemon belongs to
// the program's family. The family ends with the program.
func TestADaemonBelongsToTheFamilyOfItsProgram(t *testing.T) {
	m := newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	p, err := m.Start(shell("(setsid sleep 1000 &); sleep 1000"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(p.Family()) == 3 }, time.Minute, time.Millisecond)
	assert.Contains(t, p.Family(), p.PID())
	require.NoError(t, p.Kill())
	assert.Empty(t, p.Family())
}
