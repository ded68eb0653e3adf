package sidecar

import (
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/fence"
)

// Fence: A-TR-5
func (s service) Fence(c relay.Call, f relay.Fence) error {
	s.review(c)
	secrets, err := s.secret(c, f.Secret, codes.InvalidArgument)
	if err != nil {
		return err
	}
	var cidrs []*fence.CIDR
	for _, text := range f.CIDRs {
		cidrs = append(cidrs, &fence.CIDR{Cidr: text})
	}
	client := fence.NewFenceControllerClient(s.conn(c))
	if f.Unfence {
		_, err = client.UnfenceClusterNetwork(ctx, &fence.UnfenceClusterNetworkRequest{Parameters: f.Parameters, Secrets: secrets, Cidrs: cidrs})
		return err
	}
	_, err = client.FenceClusterNetwork(ctx, &fence.FenceClusterNetworkRequest{Parameters: f.Parameters, Secrets: secrets, Cidrs: cidrs})
	return err
}

// FenceClients: A-TR-5
func (s service) FenceClients(c relay.Call, parameters map[string]string, ref relay.Secret) ([]*fence.ClientDetails, error) {
	s.review(c)
	request := &fence.GetFenceClientsRequest{Parameters: parameters}
	if ref != (relay.Secret{}) {
		var err error
		if request.Secrets, err = s.secret(c, ref, codes.InvalidArgument); err != nil {
			return nil, err
		}
	}
	answer, err := fence.NewFenceControllerClient(s.conn(c)).GetFenceClients(ctx, request)
	return answer.GetClients(), err
}
