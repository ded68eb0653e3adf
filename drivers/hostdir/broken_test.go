//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// losesContent detects the defect if a volume is empty after an operation.
func losesContent(operate func(*testing.T, *volume) error) func(*testing.T, *driver) bool {
	return func(t *testing.T, d *driver) bool {
		v := d.create("vol", capability(false, singleNode))
		file := d.w.path("backend", "volumes", v.id, "data", "f")
		require.NoError(t, os.WriteFile(file, []byte("data"), 0o644))
		require.NoError(t, operate(t, v))
		return missing(file)
	}
}

// Each test detects its defect if the defect is switched on, and no defect otherwise.
func TestBrokenBehaviours(t *testing.T) {
	for name, shows := range map[string]func(t *testing.T, d *driver) bool{
		"reclaim-loses-data": losesContent(func(t *testing.T, v *volume) error {
			_, err := reclaimspace.NewReclaimSpaceControllerClient(v.d.conn).ControllerReclaimSpace(t.Context(), &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: v.id})
			return err
		}),
		"fence-ignored": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			require.NoError(t, v.attach())
			require.NoError(t, d.fence("10.0.0.7/32"))
			return v.stage() == nil
		},
		"fence-leaves-mounts": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			require.NoError(t, v.publish(target))
			require.NoError(t, d.fence("10.0.0.7/32"))
			return os.WriteFile(filepath.Join(target, "f"), nil, 0o644) == nil
		},
		"rotate-loses-data": losesContent(func(t *testing.T, v *volume) error {
			_, err := encryptionkeyrotation.NewEncryptionKeyRotationControllerClient(v.d.conn).EncryptionKeyRotate(t.Context(), &encryptionkeyrotation.EncryptionKeyRotateRequest{VolumeId: v.id})
			return err
		}),
		"group-drops-member": func(t *testing.T, d *driver) bool {
			one, two := d.create("one", capability(false, singleNode)), d.create("two", capability(false, singleNode))
			answer, err := volumegroup.NewControllerClient(d.conn).CreateVolumeGroup(t.Context(), &volumegroup.CreateVolumeGroupRequest{Name: "g", VolumeIds: []string{one.id, two.id}})
			require.NoError(t, err)
			return len(answer.GetVolumeGroup().GetVolumes()) == 1
		},
		"demoted-stays-writable": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			require.NoError(t, v.attach())
			require.NoError(t, d.replica(v.id).enable())
			return v.stage() == nil
		},
		"publish-not-idempotent": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			require.NoError(t, v.publish(target))
			require.NoError(t, v.publish(target))
			return d.w.mountsAt(target) == 2
		},
		"publish-wrong-volume-after-restart": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			d.create("other", capability(false, singleNode))
			require.NoError(t, os.WriteFile(filepath.Join(v.staging, "f"), nil, 0o644))
			d.crash()
			require.NoError(t, v.publish(target))
			return missing(filepath.Join(target, "f"))
		},
		"ignore-readonly": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			v.readOnly = true
			require.NoError(t, v.publish(target))
			return os.WriteFile(filepath.Join(target, "f"), nil, 0o644) == nil
		},
		"readonly-top-only": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			v.readOnly = true
			require.NoError(t, v.publish(target))
			require.Error(t, os.WriteFile(filepath.Join(target, "f"), nil, 0o644))
			defer func() { require.NoError(t, v.unpublish(target)) }()
			return os.WriteFile(filepath.Join(target, "shared/f"), nil, 0o644) == nil
		},
		"readonly-by-remount": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			// It is a peer, like the node's own mount.
			pods, elsewhere := filepath.Dir(target), d.w.mkdir("elsewhere")
			require.NoError(t, unix.Mount(pods, pods, "", unix.MS_BIND, ""))
			require.NoError(t, unix.Mount("", pods, "", unix.MS_SHARED, ""))
			require.NoError(t, unix.Mount(pods, elsewhere, "", unix.MS_BIND, ""))
			v.readOnly = true
			require.NoError(t, v.publish(target))
			require.Error(t, os.WriteFile(filepath.Join(target, "f"), nil, 0o644), "the driver's own mount is read-only")
			seen := os.WriteFile(filepath.Join(elsewhere, filepath.Base(target), "f"), nil, 0o644) == nil
			require.NoError(t, v.unpublish(target))
			require.NoError(t, unix.Unmount(elsewhere, 0))
			require.NoError(t, unix.Unmount(pods, 0))
			return seen
		},
		"publish-leaves-process": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			require.NoError(t, v.publish(target))
			require.NoError(t, v.unpublish(target))
			found := watchersOf(t, target)
			for _, pid := range found {
				assert.NoError(t, unix.Kill(pid, unix.SIGKILL))
			}
			return len(found) > 0
		},
		"publish-unmounts-others": func(t *testing.T, d *driver) bool {
			v, other := d.create("vol", capability(false, singleNode)).ready(), d.w.mkdir("pods", "other")
			require.NoError(t, unix.Mount("none", other, "tmpfs", 0, ""))
			require.NoError(t, v.publish(d.w.path("pods", "pod")))
			return d.w.mountsAt(other) == 0
		},
		"unpublish-not-found-errors": func(t *testing.T, d *driver) bool {
			return d.create("vol", capability(false, singleNode)).unpublish(d.w.target("pod")) != nil
		},
		"unpublish-leaves-target-dir": func(t *testing.T, d *driver) bool {
			v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
			require.NoError(t, v.publish(target))
			require.NoError(t, v.unpublish(target))
			return !missing(filepath.Join(target, "content"))
		},
		"stage-not-idempotent": func(t *testing.T, d *driver) bool {
			return d.create("vol", capability(false, singleNode)).ready().stage() != nil
		},
		"unstage-leaves-mount": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode)).ready()
			require.NoError(t, v.unstage())
			return d.w.mountsAt(v.staging) == 1
		},
		"block-leaks-loop": func(t *testing.T, d *driver) bool {
			require.NoError(t, d.create("vol", capability(true, singleNode)).ready().unstage())
			return len(loopsBelow(d.w.dir)) == 1
		},
		"create-not-idempotent": func(t *testing.T, d *driver) bool {
			first := d.create("vol", capability(false, singleNode))
			second := d.create("vol", capability(false, singleNode))
			return first.id != second.id
		},
		"delete-leaves-volume": func(t *testing.T, d *driver) bool {
			require.NoError(t, d.create("vol", capability(false, singleNode)).delete())
			return len(d.volumes()) == 1
		},
		"attach-to-many-nodes": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			d.w.start("node-b", "--mode", "node")
			require.NoError(t, v.attach())
			v.node = "node-b"
			return v.attach() == nil
		},
		"forget-attachments-on-restart": func(t *testing.T, d *driver) bool {
			require.NoError(t, d.create("vol", capability(false, singleNode)).attach())
			d.crash()
			return len(d.volumes()[0].GetStatus().GetPublishedNodeIds()) == 0
		},
		"lost-state-on-restart": func(t *testing.T, d *driver) bool {
			d.create("vol", capability(false, singleNode))
			d.crash()
			return len(d.volumes()) == 0
		},
		"expand-forgets-size": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			_, err := d.ControllerExpandVolume(t.Context(), &csi.ControllerExpandVolumeRequest{
				VolumeId: v.id, CapacityRange: &csi.CapacityRange{RequiredBytes: 8 * mib},
			})
			require.NoError(t, err)
			return d.volumes()[0].GetVolume().GetCapacityBytes() < 8*mib
		},
		"snapshot-restores-empty": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode)).ready()
			require.NoError(t, os.WriteFile(filepath.Join(v.staging, "f"), nil, 0o644))
			return missing(filepath.Join(d.restore(v), "f"))
		},
		"group-mixes-volumes": func(t *testing.T, d *driver) bool {
			group, contents := d.group("first", "second")
			require.Len(t, group.GetSnapshots(), 2)
			return contents[1] != "second"
		},
		"detach-not-found-errors": func(t *testing.T, d *driver) bool {
			return d.create("vol", capability(false, singleNode)).detach() != nil
		},
		"detach-loses-data": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode)).ready()
			file := d.w.path("backend", "volumes", v.id, "data", "f")
			require.NoError(t, os.WriteFile(file, nil, 0o644))
			require.NoError(t, v.unstage())
			require.NoError(t, v.detach())
			return missing(file)
		},
		"detach-leaves-attachment": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			require.NoError(t, v.attach())
			require.NoError(t, v.detach())
			return len(d.volumes()[0].GetStatus().GetPublishedNodeIds()) == 1
		},
		"stage-trusts-records": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode)).ready()
			require.NoError(t, unix.Unmount(v.staging, 0)) // like a reboot
			require.NoError(t, v.stage())
			return d.w.mountsAt(v.staging) == 0
		},
		"stage-leaks-mount": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode)).ready()
			require.NoError(t, v.unstage())
			return d.w.mountsAt(d.w.path("backend", "node-state", "node-a", "hidden", v.id)) == 1
		},
		"stage-panics": func(t *testing.T, d *driver) bool {
			v := d.create("vol", capability(false, singleNode))
			require.NoError(t, v.attach())
			return ended(v.stage())
		},
		"list-panics": func(t *testing.T, d *driver) bool {
			_, err := d.ListVolumes(t.Context(), &csi.ListVolumesRequest{})
			return ended(err)
		},
		"publish-exits": func(t *testing.T, d *driver) bool {
			return ended(d.create("vol", capability(false, singleNode)).ready().publish(d.w.target("pod")))
		},
		"stage-hoards-memory": func(t *testing.T, d *driver) bool {
			before := d.memory()
			d.create("vol", capability(false, singleNode)).ready()
			return d.memory() > before+60<<10
		},
		"start-leaves-process": func(t *testing.T, d *driver) bool {
			d.kill()
			found := watchersOf(t, "node-a")
			for _, pid := range found {
				assert.NoError(t, unix.Kill(pid, unix.SIGKILL))
			}
			return len(found) > 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.False(t, shows(t, newWorld(t).startAddons()), "a correct driver shows it as well")
			assert.True(t, shows(t, newWorld(t).startAddons("--broken", name)))
		})
	}
}

// memory returns the resident memory of the driver's program, in KiB.
func (d *driver) memory() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	require.NoError(d.w.t, err)
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	require.True(d.w.t, found)
	amount, err := strconv.Atoi(strings.Fields(rest)[0])
	require.NoError(d.w.t, err)
	return amount
}

func (d *driver) volumes() []*csi.ListVolumesResponse_Entry {
	list, err := d.ListVolumes(d.w.t.Context(), &csi.ListVolumesRequest{})
	require.NoError(d.w.t, err)
	return list.GetEntries()
}

// restore creates a volume from a snapshot of v and returns its directory.
func (d *driver) restore(v *volume) string {
	t := d.w.t
	snap, err := d.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "snap", SourceVolumeId: v.id})
	require.NoError(t, err)
	made, err := d.CreateVolume(t.Context(), &csi.CreateVolumeRequest{
		Name: "restored", VolumeCapabilities: []*csi.VolumeCapability{v.capability},
		VolumeContentSource: &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
			Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: snap.GetSnapshot().GetSnapshotId()},
		}},
	})
	require.NoError(t, err)
	return d.w.path("backend", "volumes", made.GetVolume().GetVolumeId(), "data")
}

// ended reports whether a call failed because the driver's program has exited.
func ended(err error) bool { return status.Code(err) == codes.Unavailable }

func missing(path string) bool {
	_, err := os.Lstat(path)
	return os.IsNotExist(err)
}

// watchersOf returns the processes that have the name of a target.
func watchersOf(t *testing.T, path string) (pids []int) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(line), "watch:"+path+"\x00") {
			pid, err := strconv.Atoi(strings.Split(file, "/")[2])
			require.NoError(t, err)
			pids = append(pids, pid)
		}
	}
	return pids
}
