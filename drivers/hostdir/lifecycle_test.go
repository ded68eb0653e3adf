//go:build linux

package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// After every step, the driver is killed and the step is repeated. CSI requires each call to be
// idempotent, and the driver may not keep state only in memory.
func TestEveryStepSurvivesKillAndRepetition(t *testing.T) {
	for name, tt := range map[string]struct {
		block   bool
		options []string
	}{
		"file system":                     {},
		"file system, no attach":          {options: []string{"--no-attach"}},
		"file system, no stage":           {options: []string{"--no-stage"}},
		"file system, neither":            {options: []string{"--no-attach", "--no-stage"}},
		"block":                           {block: true},
		"block, no stage":                 {block: true, options: []string{"--no-stage"}},
		"block, neither attach nor stage": {block: true, options: []string{"--no-attach", "--no-stage"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.start("node-a", tt.options...)
			v := d.create("vol", capability(tt.block, singleNode))
			target := w.target("pod-1")
			repeat := func(step func() error) {
				t.Helper()
				require.NoError(t, step())
				d.crash()
				require.NoError(t, step())
			}
			does := func(option string) bool {
				for _, o := range tt.options {
					if o == option {
						return false
					}
				}
				return true
			}

			if does("--no-attach") {
				repeat(v.attach)
			}
			if does("--no-stage") {
				repeat(v.stage)
			}
			repeat(func() error { return v.publish(target) })

			assert.Equal(t, 1, w.mountsAt(target))
			if tt.block {
				assert.True(t, isBlockDevice(target))
				assert.Len(t, loopsBelow(w.dir), 1)
			} else {
				require.NoError(t, os.WriteFile(filepath.Join(target, "f"), []byte("kept"), 0o644))
				assert.FileExists(t, w.path("backend", "volumes", v.id, "data", "f"))
			}

			repeat(func() error { return v.unpublish(target) })
			assert.NoFileExists(t, target)
			if does("--no-stage") {
				repeat(v.unstage)
				assert.DirExists(t, v.staging, "the CO made the staging directory")
			}
			assert.Zero(t, w.mountsAt(v.staging))
			assert.Empty(t, loopsBelow(w.dir))
			if does("--no-attach") {
				repeat(v.detach)
			}
			repeat(v.delete)
			assert.NoDirExists(t, w.path("backend", "volumes", v.id))
		})
	}
}

// If a publish is killed between two of its steps, the next publish completes it.
func TestPublishFinishesTheWorkOfAKilledCall(t *testing.T) {
	for name, undo := range map[string]func(t *testing.T, target string){
		"recorded only": func(t *testing.T, target string) {
			require.NoError(t, unix.Unmount(target, 0))
			require.NoError(t, os.Remove(target))
		},
		"target made, not mounted": func(t *testing.T, target string) {
			require.NoError(t, unix.Unmount(target, 0))
		},
		"mounted, still writable": func(t *testing.T, target string) {
			require.NoError(t, unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND, ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			v := w.start("node-a").create("vol", capability(false, singleNode)).ready()
			v.readOnly = true
			target := w.target("pod-1")
			require.NoError(t, v.publish(target))
			undo(t, target)

			v.d.crash()
			require.NoError(t, v.publish(target))

			assert.Equal(t, 1, w.mountsAt(target))
			assert.ErrorIs(t, os.WriteFile(filepath.Join(target, "f"), nil, 0o644), syscall.EROFS)
		})
	}
}

// Mounts of a volume that the backend has lost can still be unmounted.
func TestTeardownWorksWithoutTheVolume(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	v := d.create("vol", capability(false, singleNode)).ready()
	b := d.create("block", capability(true, singleNode)).ready()
	target := w.target("pod-1")
	require.NoError(t, v.publish(target))

	d.crashWith("--broken", "lost-state-on-restart")

	require.NoError(t, v.unpublish(target))
	require.NoError(t, v.unstage())
	require.NoError(t, b.unstage())
	assert.NoFileExists(t, target)
	assert.Zero(t, w.mountsAt(v.staging))
	assert.Empty(t, loopsBelow(w.dir))
	assert.Equal(t, codes.NotFound, status.Code(v.unpublish(target)), "nothing is left and the volume is unknown")
}

func TestBlockVolumeGrowsOnline(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	v := d.create("vol", capability(true, singleNode)).ready()
	target := w.target("pod-1")
	require.NoError(t, v.publish(target))
	size := &csi.CapacityRange{RequiredBytes: 8 * mib}

	grown, err := d.ControllerExpandVolume(t.Context(), &csi.ControllerExpandVolumeRequest{VolumeId: v.id, CapacityRange: size})
	require.NoError(t, err)
	require.True(t, grown.GetNodeExpansionRequired())
	_, err = d.NodeExpandVolume(t.Context(), &csi.NodeExpandVolumeRequest{VolumeId: v.id, VolumePath: target, CapacityRange: size})
	require.NoError(t, err)

	device, err := os.Open(target)
	require.NoError(t, err)
	defer device.Close()
	end, err := device.Seek(0, 2)
	require.NoError(t, err)
	assert.EqualValues(t, 8*mib, end)
}

// Two nodes on one machine stage the same block volume. Neither detaches the loop device of the
// other.
func TestNodesKeepTheirOwnLoopDevices(t *testing.T) {
	w := newWorld(t)
	a, b := w.start("node-a"), w.start("node-b")
	onA := a.create("vol", capability(true, multiNode)).ready()
	onB := *onA
	onB.d, onB.node, onB.staging = b, "node-b", w.mkdir("staging-b")
	onB.ready()
	require.Len(t, loopsBelow(w.dir), 2)

	require.NoError(t, onA.unstage())
	assert.Len(t, loopsBelow(w.dir), 1)
	require.NoError(t, onB.publish(w.target("pod-b")))
	require.NoError(t, onB.unpublish(w.target("pod-b")))
	require.NoError(t, onB.unstage())
	assert.Empty(t, loopsBelow(w.dir))
}

func TestSnapshotAndCloneHaveTheContent(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a")
	v := d.create("vol", capability(false, singleNode)).ready()
	require.NoError(t, os.WriteFile(filepath.Join(v.staging, "f"), []byte("then"), 0o600))
	snap, err := d.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "snap", SourceVolumeId: v.id})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(v.staging, "f"), []byte("now"), 0o600))

	for want, source := range map[string]*csi.VolumeContentSource{
		"then": {Type: &csi.VolumeContentSource_Snapshot{Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: snap.GetSnapshot().GetSnapshotId()}}},
		"now":  {Type: &csi.VolumeContentSource_Volume{Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: v.id}}},
	} {
		made, err := d.CreateVolume(t.Context(), &csi.CreateVolumeRequest{
			Name: want, VolumeCapabilities: []*csi.VolumeCapability{v.capability}, VolumeContentSource: source,
		})
		require.NoError(t, err)
		content, err := os.ReadFile(w.path("backend", "volumes", made.GetVolume().GetVolumeId(), "data", "f"))
		require.NoError(t, err)
		assert.Equal(t, want, string(content))
	}
}
