//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/backend"

var forgetAttachmentsOnRestart = &Defect{
	Name:  "forget-attachments-on-restart",
	Does:  "the controller starts with an empty attachment table",
	Start: onController((*backend.Backend).ForgetAttachments),
}
