//go:build linux

package service

import (
	"context"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
)

// reclaimController frees space of volumes on any node.
type reclaimController struct {
	reclaimspace.UnimplementedReclaimSpaceControllerServer
	store *backend.Backend
}

// reclaimNode frees space of volumes on this node.
type reclaimNode struct {
	reclaimspace.UnimplementedReclaimSpaceNodeServer
	store *backend.Backend
}

// ControllerReclaimSpace replaces zeros in a volume by holes.
func (r reclaimController) ControllerReclaimSpace(_ context.Context, req *reclaimspace.ControllerReclaimSpaceRequest) (*reclaimspace.ControllerReclaimSpaceResponse, error) {
	before, after, err := reclaim(r.store, req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &reclaimspace.ControllerReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

// NodeReclaimSpace replaces zeros by holes while the volume is staged.
func (r reclaimNode) NodeReclaimSpace(_ context.Context, req *reclaimspace.NodeReclaimSpaceRequest) (*reclaimspace.NodeReclaimSpaceResponse, error) {
	before, after, err := reclaim(r.store, req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &reclaimspace.NodeReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

func reclaim(store *backend.Backend, id string) (before, after *reclaimspace.StorageConsumption, err error) {
	if err := require("volume_id", id); err != nil {
		return nil, nil, err
	}
	took, takes, err := store.Reclaim(id)
	if err != nil {
		return nil, nil, Answer(err)
	}
	return &reclaimspace.StorageConsumption{UsageBytes: took}, &reclaimspace.StorageConsumption{UsageBytes: takes}, nil
}

// keyRotation changes the keys of volumes.
type keyRotation struct {
	encryptionkeyrotation.UnimplementedEncryptionKeyRotationControllerServer
	store *backend.Backend
}

// EncryptionKeyRotate writes a new key.
func (k keyRotation) EncryptionKeyRotate(_ context.Context, req *encryptionkeyrotation.EncryptionKeyRotateRequest) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	if err := k.store.RotateKey(req.GetVolumeId()); err != nil {
		return nil, Answer(err)
	}
	return &encryptionkeyrotation.EncryptionKeyRotateResponse{}, nil
}
