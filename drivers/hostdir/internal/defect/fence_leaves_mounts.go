//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var fenceLeavesMounts = &Defect{
	Name: "fence-leaves-mounts",
	Does: "mounts of a node stay writable when it is fenced",
	Wrap: func(d *service.Driver) { d.Fences = lateFences{d.Fences} },
}

// lateFences are noticed only in calls.
type lateFences struct{ now service.Fences }

func (l lateFences) Fences() ([]string, error) { return l.now.Fences() }

func (lateFences) FollowFences(string, func([]string) error) error { return nil }
