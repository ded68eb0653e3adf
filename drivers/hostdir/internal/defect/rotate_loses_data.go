//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
)

var rotateLosesData = &Defect{
	Name: "rotate-loses-data",
	Does: "changing a volume's key deletes its content",
	Call: after(func(d *service.Driver, req *encryptionkeyrotation.EncryptionKeyRotateRequest, _ *encryptionkeyrotation.EncryptionKeyRotateResponse) error {
		return wipe(d, req.GetVolumeId())
	}),
}
