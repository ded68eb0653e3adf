package realcluster

import (
	"errors"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

var errNoFiles = errors.New("files of volumes are not reached on a real cluster yet")

// WriteVolumeFile is not possible yet.
func (c *Cluster) WriteVolumeFile(store.Key, string, string, sim.VolumeFile) error { return errNoFiles }

// ReadVolumeFile is not possible yet.
func (c *Cluster) ReadVolumeFile(store.Key, string, string) (sim.VolumeFile, error) {
	return sim.VolumeFile{}, errNoFiles
}
