//go:build linux

package service

import (
	"context"
	"net/netip"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/internal/world/addons/fence"
)

// fenceController fences nodes. The controller plugin fences. A node plugin returns its own
// address.
type fenceController struct {
	fence.UnimplementedFenceControllerServer
	cfg   Config
	store *backend.Backend
}

// FenceClusterNetwork fences address ranges.
func (f fenceController) FenceClusterNetwork(_ context.Context, req *fence.FenceClusterNetworkRequest) (*fence.FenceClusterNetworkResponse, error) {
	ranges, err := rangesOf(req.GetCidrs())
	if err == nil {
		err = Answer(f.store.Fence(ranges))
	}
	if err != nil {
		return nil, err
	}
	return &fence.FenceClusterNetworkResponse{}, nil
}

// UnfenceClusterNetwork unfences address ranges.
func (f fenceController) UnfenceClusterNetwork(_ context.Context, req *fence.UnfenceClusterNetworkRequest) (*fence.UnfenceClusterNetworkResponse, error) {
	ranges, err := rangesOf(req.GetCidrs())
	if err == nil {
		err = Answer(f.store.Unfence(ranges))
	}
	if err != nil {
		return nil, err
	}
	return &fence.UnfenceClusterNetworkResponse{}, nil
}

// ListClusterFence lists the ranges that are fenced.
func (f fenceController) ListClusterFence(context.Context, *fence.ListClusterFenceRequest) (*fence.ListClusterFenceResponse, error) {
	all, err := f.store.Fences()
	if err != nil {
		return nil, Answer(err)
	}
	list := &fence.ListClusterFenceResponse{}
	for _, r := range all {
		list.Cidrs = append(list.Cidrs, &fence.CIDR{Cidr: r})
	}
	return list, nil
}

// GetFenceClients returns the node itself, if its address is known.
func (f fenceController) GetFenceClients(context.Context, *fence.GetFenceClientsRequest) (*fence.GetFenceClientsResponse, error) {
	if f.cfg.NodeAddress == (netip.Addr{}) {
		return nil, unimplemented("the lack of --node-address")
	}
	own := netip.PrefixFrom(f.cfg.NodeAddress, f.cfg.NodeAddress.BitLen())
	return &fence.GetFenceClientsResponse{Clients: []*fence.ClientDetails{{Id: f.cfg.NodeID, Addresses: []*fence.CIDR{{Cidr: own.String()}}}}}, nil
}

func rangesOf(cidrs []*fence.CIDR) (ranges []string, err error) {
	for _, c := range cidrs {
		if _, err := netip.ParsePrefix(c.GetCidr()); err != nil {
			return nil, invalid("%q is no address range: %v", c.GetCidr(), err)
		}
		ranges = append(ranges, c.GetCidr())
	}
	return ranges, nil
}

// writable rejects write access to a demoted volume.
func (n *node) writable(id string, readOnly bool) error {
	if readOnly {
		return nil
	}
	may, err := n.Store.Writable(id)
	if err == nil && !may {
		return precondition("volume %s is demoted: it can be used read-only", id)
	}
	return Answer(err)
}
