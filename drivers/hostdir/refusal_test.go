//go:build linux

package main

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The test follows the table of NodePublishVolume in the CSI specification for a driver with
// SINGLE_NODE_MULTI_WRITER.
func TestSecondPublishOnANode(t *testing.T) {
	for name, tt := range map[string]struct {
		mode          func(v *volume)
		sameTarget    bool
		otherReadOnly bool
		want          codes.Code
	}{
		"single writer, same target, same arguments":  {sameTarget: true, want: codes.OK},
		"single writer, same target, other arguments": {sameTarget: true, otherReadOnly: true, want: codes.AlreadyExists},
		"single writer, other target":                 {want: codes.FailedPrecondition},
		"multi writer, other target": {
			mode: func(v *volume) { v.capability = capability(false, multiWriter) }, want: codes.OK,
		},
		"multi node, other target, other arguments": {
			mode: func(v *volume) { v.capability = capability(false, multiNode) }, otherReadOnly: true, want: codes.OK,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			v := w.start("node-a").create("vol", capability(false, singleNode))
			if tt.mode != nil {
				tt.mode(v)
			}
			v.ready()
			first, second := w.target("pod-1"), w.target("pod-2")
			require.NoError(t, v.publish(first))
			v.d.crash()
			if tt.sameTarget {
				second = first
			}
			v.readOnly = tt.otherReadOnly
			assert.Equal(t, tt.want, status.Code(v.publish(second)))
		})
	}
}

func TestOrderOfCallsIsEnforced(t *testing.T) {
	w := newWorld(t)
	v := w.start("node-a").create("vol", capability(false, singleNode))

	assert.Equal(t, codes.FailedPrecondition, status.Code(v.stage()), "stage before attach")
	require.NoError(t, v.attach())
	assert.Equal(t, codes.FailedPrecondition, status.Code(v.publish(w.target("pod-1"))), "publish before stage")
	assert.NoFileExists(t, w.target("pod-1"))
	assert.Equal(t, codes.FailedPrecondition, status.Code(v.delete()), "delete while attached")
}

func TestSingleNodeVolumeIsOnOneNode(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	w.start("node-b", "--mode", "node", "--node-state-dir", w.path("node-b-state"))
	v := d.create("vol", capability(false, singleNode))
	require.NoError(t, v.attach())

	v.node = "node-b"
	err := v.attach()
	assert.Equal(t, codes.FailedPrecondition, status.Code(err))
	assert.ErrorContains(t, err, "node-a")
	v.node = "node-c"
	assert.Equal(t, codes.NotFound, status.Code(v.attach()))
}

func TestAMissingPermissionIsNamed(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	v := d.create("vol", capability(false, singleNode))
	require.NoError(t, v.attach())
	d.withoutPrivilege = true
	d.crash()

	err := v.stage()
	assert.Equal(t, codes.Internal, status.Code(err))
	assert.ErrorContains(t, err, "operation not permitted (hostdir needs CAP_SYS_ADMIN)")
}

func TestSocketIsRemovedAtTheEndAndReplacedAfterAKill(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	d.kill()
	require.FileExists(t, d.socket, "a killed driver leaves its socket")
	d.launch()

	require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, d.cmd.Wait())
	assert.NoFileExists(t, d.socket)
	require.NoError(t, d.conn.Close())
}
