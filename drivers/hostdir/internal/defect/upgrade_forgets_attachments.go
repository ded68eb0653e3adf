//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var upgradeForgetsAttachments = &Defect{
	Name: "upgrade-forgets-attachments",
	Does: "the controller of this release starts with an empty attachment table",
	Upgrade: func(d *service.Driver) error {
		if !d.Config.Controller {
			return nil
		}
		return d.Backend.ForgetAttachments()
	},
}
