package mock

import (
	"context"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
)

// AddonsKeyRotation serves changing keys.
type AddonsKeyRotation struct {
	encryptionkeyrotation.UnimplementedEncryptionKeyRotationControllerServer
	*AddonsIdentity
}

// EncryptionKeyRotate changes the key of a volume.
func (s AddonsKeyRotation) EncryptionKeyRotate(_ context.Context, r *encryptionkeyrotation.EncryptionKeyRotateRequest) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
	return serveVolume(s.AddonsIdentity, "EncryptionKeyRotate", "encryption_key_rotation.ENCRYPTIONKEYROTATION", r.GetVolumeId(), func(v *volume) (*encryptionkeyrotation.EncryptionKeyRotateResponse, error) {
		s.driver.addons.keys[v.id]++
		return &encryptionkeyrotation.EncryptionKeyRotateResponse{}, nil
	})
}
