package program

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/ledger"
)

// Holds requests the present volumes and snapshots of a driver, if it can list them.
func Holds(ctx context.Context, c csi.ControllerClient) (h ledger.Holdings, err error) {
	answer, err := c.ControllerGetCapabilities(ctx, &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return h, err
	}
	can := map[csi.ControllerServiceCapability_RPC_Type]bool{}
	for _, capability := range answer.GetCapabilities() {
		can[capability.GetRpc().GetType()] = true
	}
	if can[csi.ControllerServiceCapability_RPC_LIST_VOLUMES] {
		withNodes := can[csi.ControllerServiceCapability_RPC_LIST_VOLUMES_PUBLISHED_NODES]
		if h.Volumes, err = listVolumes(ctx, c, withNodes); err != nil {
			return ledger.Holdings{}, fmt.Errorf("ListVolumes: %w", err)
		}
	}
	if can[csi.ControllerServiceCapability_RPC_LIST_SNAPSHOTS] {
		if h.Snapshots, err = listSnapshots(ctx, c); err != nil {
			return h, fmt.Errorf("ListSnapshots: %w", err)
		}
	}
	return h, nil
}

// pageSize is the number of entries in one request.
const pageSize = 100

// listVolumes requests all volumes. The nodes are valid only if the driver promises them.
func listVolumes(ctx context.Context, c csi.ControllerClient, withNodes bool) ([]ledger.HeldVolume, error) {
	all := []ledger.HeldVolume{}
	seen := map[string]bool{}
	err := pages(func(token string) (*csi.ListVolumesResponse, error) {
		page, err := c.ListVolumes(ctx, &csi.ListVolumesRequest{MaxEntries: pageSize, StartingToken: token})
		for _, entry := range page.GetEntries() {
			v := ledger.HeldVolume{ID: entry.GetVolume().GetVolumeId()}
			if withNodes {
				v.NodeIDs = entry.GetStatus().GetPublishedNodeIds()
			}
			if !seen[v.ID] {
				all = append(all, v)
			}
			seen[v.ID] = true
		}
		return page, err
	})
	return all, err
}

func listSnapshots(ctx context.Context, c csi.ControllerClient) ([]string, error) {
	all := []string{}
	seen := map[string]bool{}
	err := pages(func(token string) (*csi.ListSnapshotsResponse, error) {
		page, err := c.ListSnapshots(ctx, &csi.ListSnapshotsRequest{MaxEntries: pageSize, StartingToken: token})
		for _, entry := range page.GetEntries() {
			id := entry.GetSnapshot().GetSnapshotId()
			if !seen[id] {
				all = append(all, id)
			}
			seen[id] = true
		}
		return page, err
	})
	return all, err
}

// page is an answer that may be followed by another.
type page interface {
	proto.Message
	GetNextToken() string
}

// pages requests one page after another.
func pages[P page](next func(token string) (P, error)) error {
	var turned contract.Pages
	for token := ""; ; {
		page, err := next(token)
		if err != nil {
			return err
		}
		if why := turned.Turn(page); why != "" {
			return fmt.Errorf("next_token %s", why)
		}
		if token = page.GetNextToken(); token == "" {
			return nil
		}
	}
}
