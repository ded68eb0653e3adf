//go:build linux

package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/world/addons/replication"
)

func (r replica) force() error {
	_, err := r.PromoteVolume(r.d.w.t.Context(), &replication.PromoteVolumeRequest{ReplicationSource: r.source, Force: true})
	return err
}

func (r replica) ready() bool {
	answer, err := r.ResyncVolume(r.d.w.t.Context(), &replication.ResyncVolumeRequest{ReplicationSource: r.source, Force: true})
	require.NoError(r.d.w.t, err)
	return answer.GetReady()
}

func TestTwoSitesKeepCopiesOfEachOthersVolumes(t *testing.T) {
	w := newWorld(t)
	west := w.start("node-a", "--csi-addons", "--sites=west,east", "--site=west")
	east := w.start("node-b", "--csi-addons", "--sites=west,east", "--site=east")
	v := west.create("vol", capability(false, singleNode))
	content := func(site string) string { return w.path("backend", site, "volumes", v.id, "data", "f") }
	write := func(site, text string) { require.NoError(t, os.WriteFile(content(site), []byte(text), 0o600)) }
	has := func(site, text string) {
		t.Helper()
		is, err := os.ReadFile(content(site))
		require.NoError(t, err)
		assert.Equal(t, text, string(is))
	}
	here, there := west.replica(v.id), east.replica(v.id)
	assert.Equal(t, codes.NotFound, code(there.enable()), "the other site does not know it yet")
	write("west", "one")
	require.NoError(t, here.enable())
	require.NoError(t, here.promote())
	has("east", "one")

	assert.Equal(t, codes.Aborted, code(there.promote()), "the west is primary")
	assert.Equal(t, codes.Aborted, code(there.force()), "the west is primary, and can be reached")
	write("west", "two")
	require.NoError(t, here.demote(false))
	require.NoError(t, there.promote())
	has("east", "two")

	write("east", "three")
	east.kill()
	assert.Equal(t, codes.FailedPrecondition, code(here.promote()), "the east is primary, and cannot be reached")
	assert.False(t, here.ready(), "there is no site to synchronize with")
	require.NoError(t, here.force())
	has("west", "two")
	write("west", "four")
	east.launch()
	there = east.replica(v.id)
	assert.Equal(t, codes.FailedPrecondition, code(there.resync(true)), "it is not demoted")
	require.NoError(t, there.demote(false))
	has("west", "four")
	assert.True(t, there.ready())
	has("east", "four")

	_, err := here.DisableVolumeReplication(t.Context(), &replication.DisableVolumeReplicationRequest{ReplicationSource: here.source})
	require.NoError(t, err)
	assert.NoFileExists(t, content("east"))
	has("west", "four")
}
