package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/judge/ledger"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/addons/fence"
)

// holds requests the current contents of a driver's backend. The requests are not part of the run:
// they do not pass the wire, and no trace shows them.
func (d *Driver) holds() (h ledger.Holdings, err error) {
	defer func() { d.note(h) }()
	switch {
	case d.Mock != nil:
		return mockHoldings(d.Mock), nil
	case d.Controller == nil:
		return h, nil
	case !d.answering().Running:
		return h, errors.New("its controller plugin does not run")
	}
	err = d.answering().Ask("volumes and snapshots", func(ctx context.Context, conn grpc.ClientConnInterface) (err error) {
		h, err = judged.Holds(ctx, csi.NewControllerClient(conn))
		return err
	})
	return h, err
}

// note remembers the volumes and snapshots that the driver has listed.
func (d *Driver) note(h ledger.Holdings) {
	if d.listed == nil {
		d.listed = map[string]bool{}
	}
	for _, v := range h.Volumes {
		d.listed[v.ID] = true
	}
	for _, id := range h.Snapshots {
		d.listed[id] = true
	}
}

// Listed returns the sorted ids of all volumes and snapshots that drivers have listed at the
// beginning of the run and at its end, including those that the run did not create.
func (ds *Drivers) Listed() []string {
	all := map[string]bool{}
	for _, d := range ds.All {
		maps.Copy(all, d.listed)
	}
	return slices.Sorted(maps.Keys(all))
}

// fences returns a function that requests the address ranges that a driver with CSI-Addons fences
// off its storage; nil for a driver without CSI-Addons. The requests are not part of the run.
func (d *Driver) fences() func() ([]string, error) {
	if len(d.Addons) == 0 && (d.Mock == nil || !d.Mock.ServesAddons()) {
		return nil
	}
	return func() (all []string, err error) {
		switch {
		case d.Mock != nil:
			return d.Mock.Fenced(), nil
		case d.Controller == nil:
			return nil, nil
		case !d.answering().Running:
			return nil, errors.New("its controller plugin does not run")
		}
		err = d.answering().AskAt(d.answering().Addons, "fences (ListClusterFence)", func(ctx context.Context, conn grpc.ClientConnInterface) error {
			answer, err := fence.NewFenceControllerClient(conn).ListClusterFence(ctx, &fence.ListClusterFenceRequest{})
			for _, c := range answer.GetCidrs() {
				all = append(all, c.GetCidr())
			}
			if status.Code(err) == codes.Unimplemented {
				return nil
			}
			return err
		})
		return all, err
	}
}

// Backends returns the backends of all drivers.
func (ds *Drivers) Backends() (all []*ledger.Backend) {
	for _, d := range ds.All {
		all = append(all, &ledger.Backend{Driver: d.Name, Before: d.before, Holds: d.holds, Fences: d.fences(), NodeID: d.NodeID, IDs: d.idsOf})
	}
	return all
}

func mockHoldings(m *mock.Driver) (h ledger.Holdings) {
	h = ledger.Holdings{Volumes: []ledger.HeldVolume{}, Snapshots: []string{}}
	attached := map[string][]string{}
	for _, a := range m.Attachments() {
		attached[a.VolumeID] = append(attached[a.VolumeID], a.NodeID)
	}
	for _, v := range m.Volumes() {
		h.Volumes = append(h.Volumes, ledger.HeldVolume{ID: v.ID, Name: v.Name, NodeIDs: attached[v.ID]})
	}
	for _, s := range m.Snapshots() {
		h.Snapshots = append(h.Snapshots, s.ID)
	}
	return h
}
