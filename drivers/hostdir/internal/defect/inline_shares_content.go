//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var inlineSharesContent = &Defect{
	Name: "inline-shares-content",
	Does: "all inline volumes of a node show one directory",
	Wrap: func(d *service.Driver) { d.Inlines = sharedInlines{d.Inlines} },
}

type sharedInlines struct{ service.Inlines }

func (s sharedInlines) Dir(string) string { return s.Inlines.Dir("shared") }
