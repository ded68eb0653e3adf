package mock

import (
	"context"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
)

// AddonsKeyRotation serves the rotation of keys.
type AddonsKeyRotation struct {
	encryptionkeyrotation.UnimplementedEncryptionKeyRotationControllerServer
	*AddonsIdentity
}

// EncryptionKeyRotate changes the key of a volume.
func (s AddonsKeyRotation) EncryptionKeyRotate(_ context.Context, r *encryptionkeyrotation.EncryptionKeyRotateRequest) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
	return serveVolume(s.AddonsIdentity, "EncryptionKeyRotate", "encryption_key_rotation.ENCRYPTIONKEYROTATION", r.GetVolumeId(), func(v *volume) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
		s.driver.addons.keys[v.id]++
		if s.driver.faults[rotatesOnce] && s.driver.addons.keys[v.id] > 1 {
			return nil, status.Errorf(codes.Internal, "volume %s has its new key already", v.id)
		}
		return &encryptionkeyrotation.EncryptionKeyRotateResponse{}, nil
	})
}
