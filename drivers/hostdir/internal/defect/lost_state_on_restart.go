//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/backend"

var lostStateOnRestart = &Defect{
	Name:  "lost-state-on-restart",
	Does:  "the controller starts without any volume or snapshot",
	Start: onController((*backend.Backend).Lose),
}
