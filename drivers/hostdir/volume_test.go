//go:build linux

package main

import (
	"os"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const mib = 1 << 20

var (
	singleNode  = csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER
	multiWriter = csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER
	multiNode   = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
)

func capability(block bool, mode csi.VolumeCapability_AccessMode_Mode) *csi.VolumeCapability {
	c := &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: mode}}
	if block {
		c.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
	} else {
		c.AccessType = &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}}
	}
	return c
}

// volume is a volume during its life in a driver.
type volume struct {
	d          *driver
	id         string
	context    map[string]string
	capability *csi.VolumeCapability
	node       string
	staging    string
	readOnly   bool
}

func (d *driver) create(name string, c *csi.VolumeCapability) *volume {
	d.w.t.Helper()
	answer, err := d.CreateVolume(d.w.t.Context(), &csi.CreateVolumeRequest{
		Name: name, VolumeCapabilities: []*csi.VolumeCapability{c},
		CapacityRange: &csi.CapacityRange{RequiredBytes: 4 * mib},
	})
	require.NoError(d.w.t, err)
	return &volume{
		d: d, id: answer.GetVolume().GetVolumeId(), capability: c,
		node: "node-a", staging: d.w.mkdir("staging", name),
	}
}

func (v *volume) attach() error {
	answer, err := v.d.ControllerPublishVolume(v.d.w.t.Context(), &csi.ControllerPublishVolumeRequest{
		VolumeId: v.id, NodeId: v.node, VolumeCapability: v.capability,
	})
	if err == nil {
		v.context = answer.GetPublishContext()
	}
	return err
}

func (v *volume) detach() error {
	_, err := v.d.ControllerUnpublishVolume(v.d.w.t.Context(), &csi.ControllerUnpublishVolumeRequest{
		VolumeId: v.id, NodeId: v.node,
	})
	return err
}

func (v *volume) stage() error {
	_, err := v.d.NodeStageVolume(v.d.w.t.Context(), &csi.NodeStageVolumeRequest{
		VolumeId: v.id, PublishContext: v.context, StagingTargetPath: v.staging, VolumeCapability: v.capability,
	})
	return err
}

func (v *volume) unstage() error {
	_, err := v.d.NodeUnstageVolume(v.d.w.t.Context(), &csi.NodeUnstageVolumeRequest{
		VolumeId: v.id, StagingTargetPath: v.staging,
	})
	return err
}

func (v *volume) publish(target string) error {
	_, err := v.d.NodePublishVolume(v.d.w.t.Context(), &csi.NodePublishVolumeRequest{
		VolumeId: v.id, PublishContext: v.context, StagingTargetPath: v.staging,
		TargetPath: target, VolumeCapability: v.capability, Readonly: v.readOnly,
	})
	return err
}

func (v *volume) unpublish(target string) error {
	_, err := v.d.NodeUnpublishVolume(v.d.w.t.Context(), &csi.NodeUnpublishVolumeRequest{
		VolumeId: v.id, TargetPath: target,
	})
	return err
}

func (v *volume) delete() error {
	_, err := v.d.DeleteVolume(v.d.w.t.Context(), &csi.DeleteVolumeRequest{VolumeId: v.id})
	return err
}

// ready attaches and stages the volume.
func (v *volume) ready() *volume {
	v.d.w.t.Helper()
	require.NoError(v.d.w.t, v.attach())
	require.NoError(v.d.w.t, v.stage())
	return v
}

// target returns a path that does not exist, in an existing directory.
func (w *world) target(name string) string {
	w.mkdir("pods")
	return w.path("pods", name)
}

// mountsAt counts the stacked mounts at path.
func (w *world) mountsAt(path string) int {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(w.t, err)
	return strings.Count(string(mounts), " "+path+" ")
}

func isBlockDevice(path string) bool {
	var stat unix.Stat_t
	return unix.Stat(path, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFBLK
}
