//go:build linux

package service

import (
	"context"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
)

// reclaimController frees space of volumes on any node.
type reclaimController struct {
	reclaimspace.UnimplementedReclaimSpaceControllerServer
	store  *backend.Backend
	broken broken.Set
}

// reclaimNode frees space of volumes on this node.
type reclaimNode struct {
	reclaimspace.UnimplementedReclaimSpaceNodeServer
	store  *backend.Backend
	broken broken.Set
}

// ControllerReclaimSpace replaces zeros in a volume by holes.
func (r reclaimController) ControllerReclaimSpace(_ context.Context, req *reclaimspace.ControllerReclaimSpaceRequest) (*reclaimspace.ControllerReclaimSpaceResponse, error) {
	before, after, err := reclaim(r.store, r.broken, req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &reclaimspace.ControllerReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

// NodeReclaimSpace does the same while the volume is staged.
func (r reclaimNode) NodeReclaimSpace(_ context.Context, req *reclaimspace.NodeReclaimSpaceRequest) (*reclaimspace.NodeReclaimSpaceResponse, error) {
	before, after, err := reclaim(r.store, r.broken, req.GetVolumeId())
	if err != nil {
		return nil, err
	}
	return &reclaimspace.NodeReclaimSpaceResponse{PreUsage: before, PostUsage: after}, nil
}

func reclaim(store *backend.Backend, set broken.Set, id string) (before, after *reclaimspace.StorageConsumption, err error) {
	if err := require("volume_id", id); err != nil {
		return nil, nil, err
	}
	took, takes, err := store.Reclaim(id)
	if err != nil {
		return nil, nil, answer(err)
	}
	if set.Has(broken.ReclaimLosesData) {
		if err := wipe(store, id); err != nil {
			return nil, nil, answer(err)
		}
	}
	return &reclaimspace.StorageConsumption{UsageBytes: took}, &reclaimspace.StorageConsumption{UsageBytes: takes}, nil
}

// wipe deletes a volume's content.
func wipe(store *backend.Backend, id string) error {
	v, err := store.Volume(id)
	if err != nil {
		return err
	}
	return store.Wipe(v)
}

// keyRotation changes the keys of volumes.
type keyRotation struct {
	encryptionkeyrotation.UnimplementedEncryptionKeyRotationControllerServer
	store  *backend.Backend
	broken broken.Set
}

// EncryptionKeyRotate writes a new key.
func (k keyRotation) EncryptionKeyRotate(_ context.Context, req *encryptionkeyrotation.EncryptionKeyRotateRequest) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
	if err := require("volume_id", req.GetVolumeId()); err != nil {
		return nil, err
	}
	err := k.store.RotateKey(req.GetVolumeId())
	if err == nil && k.broken.Has(broken.RotateLosesData) {
		err = wipe(k.store, req.GetVolumeId())
	}
	if err != nil {
		return nil, answer(err)
	}
	return &encryptionkeyrotation.EncryptionKeyRotateResponse{}, nil
}
