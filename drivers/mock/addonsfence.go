package mock

import (
	"context"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/fence"
)

// AddonsFence serves fencing.
type AddonsFence struct {
	fence.UnimplementedFenceControllerServer
	*AddonsIdentity
}

func addressesOf(cidrs []*fence.CIDR) (all []string) {
	for _, c := range cidrs {
		all = append(all, c.GetCidr())
	}
	return all
}

func cidrsOf(all []string) (cidrs []*fence.CIDR) {
	for _, text := range all {
		cidrs = append(cidrs, &fence.CIDR{Cidr: text})
	}
	return cidrs
}

const fencing = "network_fence.NETWORK_FENCE"

// changeFence fences addresses, or lifts the fence.
func changeFence[A any](s AddonsFence, rpc string, cidrs []*fence.CIDR, apply func([]string) error) (*A, error) {
	return serve(s.AddonsIdentity, rpc, fencing, func() (*A, error) {
		if s.driver.faults[promisesFencing] {
			return nil, notImplemented(rpc)
		}
		addresses := addressesOf(cidrs)
		if err := checkAddresses(addresses); err != nil {
			return nil, err
		}
		if err := apply(addresses); err != nil {
			return nil, err
		}
		return new(A), nil
	})
}

// FenceClusterNetwork blocks addresses from the storage.
func (s AddonsFence) FenceClusterNetwork(_ context.Context, r *fence.FenceClusterNetworkRequest) (*fence.FenceClusterNetworkResponse, error) {
	return changeFence[fence.FenceClusterNetworkResponse](s, "FenceClusterNetwork", r.GetCidrs(), func(addresses []string) error {
		if s.driver.faults[messageShowsSecret] {
			return status.Errorf(codes.PermissionDenied, "login with %v is refused", r.GetSecrets())
		}
		if s.driver.faults[fenceNotIdempotent] && slices.ContainsFunc(addresses, s.driver.isFenced) {
			return status.Errorf(codes.AlreadyExists, "%v are fenced", addresses)
		}
		s.driver.fence(addresses)
		return nil
	})
}

// UnfenceClusterNetwork unblocks addresses.
func (s AddonsFence) UnfenceClusterNetwork(_ context.Context, r *fence.UnfenceClusterNetworkRequest) (*fence.UnfenceClusterNetworkResponse, error) {
	return changeFence[fence.UnfenceClusterNetworkResponse](s, "UnfenceClusterNetwork", r.GetCidrs(), func(addresses []string) error {
		s.driver.unfence(addresses)
		return nil
	})
}

// ListClusterFence lists the fenced addresses.
func (s AddonsFence) ListClusterFence(context.Context, *fence.ListClusterFenceRequest) (*fence.ListClusterFenceResponse, error) {
	return serve(s.AddonsIdentity, "ListClusterFence", fencing, func() (*fence.ListClusterFenceResponse, error) {
		return &fence.ListClusterFenceResponse{Cidrs: cidrsOf(s.driver.addons.fenced)}, nil
	})
}

// GetFenceClients lists the clients that can be fenced.
func (s AddonsFence) GetFenceClients(context.Context, *fence.GetFenceClientsRequest) (*fence.GetFenceClientsResponse, error) {
	return serve(s.AddonsIdentity, "GetFenceClients", "network_fence.GET_CLIENTS_TO_FENCE", func() (*fence.GetFenceClientsResponse, error) {
		clients := s.driver.options.CSIAddons.FenceClients
		if clients == nil {
			clients = []FenceClient{{ID: or(s.node, s.driver.Name()), CIDRs: []string{"10.0.0.0/32"}}}
		}
		answer := &fence.GetFenceClientsResponse{}
		for _, c := range clients {
			if c.Node != "" && c.Node != s.node {
				continue
			}
			answer.Clients = append(answer.Clients, &fence.ClientDetails{Id: c.ID, Addresses: cidrsOf(c.CIDRs)})
		}
		return answer, nil
	})
}
