package sim

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/judge/ledger"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/addons/fence"
)

// holds requests the present contents of a driver's backend. The requests are no part of the run:
// they pass no wire, so that no trace shows them.
func (d *driver) holds() (h ledger.Holdings, err error) {
	defer func() { d.note(h) }()
	switch {
	case d.mock != nil:
		return mockHoldings(d.mock), nil
	case d.controller == nil:
		return h, nil
	case !d.answering().running:
		return h, errors.New("its controller plugin does not run")
	}
	err = d.answering().ask("volumes and snapshots", func(ctx context.Context, conn grpc.ClientConnInterface) (err error) {
		h, err = judged.Holds(ctx, csi.NewControllerClient(conn))
		return err
	})
	return h, err
}

// note remembers the volumes and snapshots that the driver has listed.
func (d *driver) note(h ledger.Holdings) {
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

// Listed returns the ids of all volumes and snapshots, of any maker, that drivers have listed when
// they were looked at, at the beginning of the run and at its end; sorted.
func (c *Simulation) Listed() []string {
	all := map[string]bool{}
	for _, d := range c.drivers {
		maps.Copy(all, d.listed)
	}
	return slices.Sorted(maps.Keys(all))
}

// fences returns a function that requests the address ranges that a driver with CSI-Addons keeps
// off its storage; nil for a driver without. The requests are no part of the run.
func (d *driver) fences() func() ([]string, error) {
	if len(d.Addons) == 0 && (d.mock == nil || !d.mock.ServesAddons()) {
		return nil
	}
	return func() (all []string, err error) {
		switch {
		case d.mock != nil:
			return d.mock.Fenced(), nil
		case d.controller == nil:
			return nil, nil
		case !d.answering().running:
			return nil, errors.New("its controller plugin does not run")
		}
		err = d.answering().askAt(d.answering().addons, "fences (ListClusterFence)", func(ctx context.Context, conn grpc.ClientConnInterface) error {
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
