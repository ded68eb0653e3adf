//go:build linux

package service

import (
	"errors"
	"net/netip"
	"os"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// admitted rejects the calls of a fenced node.
func (n *node) admitted() error {
	if n.Config.NodeAddress == (netip.Addr{}) {
		return nil
	}
	fences, err := n.Fences.Fences()
	if err == nil && backend.Covers(fences, n.Config.NodeAddress) {
		return status.Errorf(codes.FailedPrecondition, "node %s with address %s is fenced", n.Config.NodeID, n.Config.NodeAddress)
	}
	return Answer(err)
}

// followFences makes the published volumes of the node read-only while it is fenced.
func (n *node) followFences() error {
	if !n.Config.Addons || n.Config.NodeAddress == (netip.Addr{}) {
		return nil
	}
	return n.Fences.FollowFences(n.Config.NodeID, func(fences []string) error {
		n.fencing.Lock()
		defer n.fencing.Unlock()
		return n.shut(backend.Covers(fences, n.Config.NodeAddress))
	})
}

// shut makes the writable published volumes read-only, or reverts this. Inline volumes are on the
// node, so they are not affected.
func (n *node) shut(fenced bool) error {
	all, err := n.Records.All()
	if err != nil {
		return err
	}
	table, err := mount.Read()
	if err != nil {
		return err
	}
	var errs []error
	for _, p := range all {
		top, mounted := table.At(p.Path)
		if !p.Target || p.ReadOnly || !mounted || n.isInlineID(p.VolumeID) {
			continue
		}
		errs = append(errs, n.shutTarget(p, top.ReadOnly, fenced))
	}
	return errors.Join(errs...)
}

// shutTarget mounts a published volume again, read-only. A remount would affect only this mount
// namespace, and a stacked mount would be propagated to the staging path. A device can be changed
// itself.
func (n *node) shutTarget(p placement.Placement, shut, fenced bool) error {
	info, err := os.Stat(p.Path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return n.shutDevice(p.VolumeID, fenced)
	}
	if fenced == shut {
		return nil
	}
	flags, err := mount.ParseFlags(strings.FieldsFunc(p.Flags, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	if fenced {
		flags |= mount.ReadOnly
	}
	if _, err := mount.Unmount(p.Path); err != nil {
		return err
	}
	return mount.BindRestricted(n.Store.DataPath(backend.Volume{ID: p.VolumeID}), p.Path, flags)
}

func (n *node) shutDevice(volumeID string, fenced bool) error {
	devices, err := n.Devices.Find(n.Label(volumeID))
	for _, d := range devices {
		if err := d.SetReadOnly(fenced); err != nil {
			return err
		}
	}
	return err
}
