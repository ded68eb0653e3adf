//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var fenceIgnored = &Defect{
	Name: "fence-ignored",
	Does: "a node that is fenced stages and publishes volumes",
	Wrap: func(d *service.Driver) { d.Fences = noFences{} },
}

type noFences struct{}

func (noFences) Fences() ([]string, error) { return nil, nil }

func (noFences) FollowFences(string, func([]string) error) error { return nil }
