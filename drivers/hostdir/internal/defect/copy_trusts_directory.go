//go:build linux

package defect

import (
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var copyTrustsDirectory = &Defect{
	Name: "copy-trusts-directory",
	Does: "a volume that a killed driver had begun to copy is taken as it is",
	Wrap: func(d *service.Driver) { d.Store = &copyingStore{Store: d.Store, copies: map[string]bool{}} },
}

// copyingStore creates an empty volume and copies into it after the call has returned. Meanwhile
// calls return ABORTED. If the driver is killed during the copy, the partial volume counts as
// complete.
type copyingStore struct {
	service.Store
	mu     sync.Mutex
	copies map[string]bool // volumes with a copy in progress
}

// copyTime is the delay before the copy.
const copyTime = 300 * time.Millisecond

func (c *copyingStore) CreateVolume(spec backend.VolumeSpec) (backend.Volume, error) {
	if spec.Source == (backend.Source{}) {
		return c.Store.CreateVolume(spec)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	v, err := c.Store.Volume(backend.VolumeID(spec.Name))
	if err == nil && c.copies[v.ID] {
		return v, status.Errorf(codes.Aborted, "volume %s is being copied", v.ID)
	}
	if err == nil {
		return v, nil
	}
	empty := spec
	empty.Source = backend.Source{}
	if v, err = c.Store.CreateVolume(empty); err != nil {
		return v, err
	}
	c.copies[v.ID] = true
	time.AfterFunc(copyTime, func() { c.finish(v.ID, spec) })
	return v, status.Errorf(codes.Aborted, "volume %s is being copied", v.ID)
}

func (c *copyingStore) finish(id string, spec backend.VolumeSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Store.DeleteVolume(id) == nil {
		_, _ = c.Store.CreateVolume(spec) // a repeated call returns the error
	}
	delete(c.copies, id)
}
