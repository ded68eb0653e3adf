package sim

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
)

// Detach makes a driver detach a volume from a node, like an administrator of the storage system.
// Kubernetes neither requests this nor notices it.
func (c *Simulation) Detach(pv *corev1.PersistentVolume, node string) error {
	source := pv.Spec.CSI
	if source == nil {
		return &ConfigError{Subject: fmt.Sprintf("volume %q", pv.Name), Problem: "it has no CSI source, so no driver can detach it"}
	}
	p, err := c.drivers.Plugin(source.Driver, "")
	switch {
	case err != nil:
		return err
	case !p.Running:
		return &ConfigError{Subject: fmt.Sprintf("driver %q", source.Driver), Problem: "its controller plugin does not run"}
	}
	request := &csi.ControllerUnpublishVolumeRequest{VolumeId: source.VolumeHandle, NodeId: c.drivers.RegisteredID(p.Driver, node)}
	c.World.Trace.Note(node, "volume %s detached from %s at the driver itself", request.VolumeId, request.NodeId)
	c.checks.Invariants.Detached(source.Driver, request.VolumeId, request.NodeId)
	return p.Ask("detachment of volume "+request.VolumeId, func(ctx context.Context, conn grpc.ClientConnInterface) error {
		_, err := csi.NewControllerClient(conn).ControllerUnpublishVolume(ctx, request)
		return err
	})
}
