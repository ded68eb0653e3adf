package relay

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/sidecar"
)

type servedReplication struct {
	sidecar.UnimplementedReplicationServer
	served
}

// asked holds the fields that all requests of replication share.
type asked interface {
	GetSecretName() string
	GetSecretNamespace() string
	GetReplicationSource() *sidecar.ReplicationSource
}

// replicate makes one of the sidecar's replication calls; answerOf converts its answer to the
// sidecar's message.
func replicate[T proto.Message](ctx context.Context, s served, operation Operation, r asked, answerOf func(proto.Message) T) (T, error) {
	request := Replication{Operation: operation, Secret: secretIn(r), Source: sourceIn(r.GetReplicationSource())}
	if with, ok := r.(interface{ GetReplicationId() string }); ok {
		request.ID = with.GetReplicationId()
	}
	if with, ok := r.(interface{ GetForce() bool }); ok {
		request.Force = with.GetForce()
	}
	if with, ok := r.(interface{ GetParameters() map[string]string }); ok {
		request.Parameters = with.GetParameters()
	}
	return answer(ctx, s, string(operation), func(to Service, c Call) (none T, err error) {
		got, err := to.Replicate(c, request)
		if err != nil {
			return none, err
		}
		return answerOf(got), nil
	})
}

// bare returns an answer without fields.
func bare[T any](proto.Message) *T { return new(T) }

func (s servedReplication) EnableVolumeReplication(ctx context.Context, r *sidecar.EnableVolumeReplicationRequest) (*sidecar.EnableVolumeReplicationResponse, error) {
	return replicate(ctx, s.served, Enable, r, bare[sidecar.EnableVolumeReplicationResponse])
}

func (s servedReplication) DisableVolumeReplication(ctx context.Context, r *sidecar.DisableVolumeReplicationRequest) (*sidecar.DisableVolumeReplicationResponse, error) {
	return replicate(ctx, s.served, Disable, r, bare[sidecar.DisableVolumeReplicationResponse])
}

func (s servedReplication) PromoteVolume(ctx context.Context, r *sidecar.PromoteVolumeRequest) (*sidecar.PromoteVolumeResponse, error) {
	return replicate(ctx, s.served, Promote, r, bare[sidecar.PromoteVolumeResponse])
}

func (s servedReplication) DemoteVolume(ctx context.Context, r *sidecar.DemoteVolumeRequest) (*sidecar.DemoteVolumeResponse, error) {
	return replicate(ctx, s.served, Demote, r, bare[sidecar.DemoteVolumeResponse])
}

func (s servedReplication) ResyncVolume(ctx context.Context, r *sidecar.ResyncVolumeRequest) (*sidecar.ResyncVolumeResponse, error) {
	return replicate(ctx, s.served, Resync, r, func(got proto.Message) *sidecar.ResyncVolumeResponse {
		return &sidecar.ResyncVolumeResponse{Ready: got.(*replication.ResyncVolumeResponse).GetReady()}
	})
}

func (s servedReplication) GetVolumeReplicationInfo(ctx context.Context, r *sidecar.GetVolumeReplicationInfoRequest) (*sidecar.GetVolumeReplicationInfoResponse, error) {
	return replicate(ctx, s.served, Info, r, func(got proto.Message) *sidecar.GetVolumeReplicationInfoResponse {
		return infoAnswer(got.(*replication.GetVolumeReplicationInfoResponse))
	})
}

func (s servedReplication) GetReplicationDestinationInfo(ctx context.Context, r *sidecar.GetReplicationDestinationInfoRequest) (*sidecar.GetReplicationDestinationInfoResponse, error) {
	return replicate(ctx, s.served, Destination, r, func(got proto.Message) *sidecar.GetReplicationDestinationInfoResponse {
		return &sidecar.GetReplicationDestinationInfoResponse{
			ReplicationDestination: destinationAnswer(got.(*replication.GetReplicationDestinationInfoResponse).GetReplicationDestination()),
		}
	})
}
