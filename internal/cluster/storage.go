package cluster

import (
	"fmt"
	"path"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/machine"
)

// Storage holds the contents of volumes at a site of a mock driver, for nodes in memory. Each node
// reads the content that other nodes write.
type Storage struct {
	disk   *machine.Memory
	driver string
}

// NewStorage returns the empty storage of a driver in a cluster.
func NewStorage(cluster, driver string) *Storage {
	return &Storage{disk: machine.NewMemory("storage of " + cluster), driver: driver}
}

// Show mounts a volume on a directory of a node.
func (s *Storage) Show(on *machine.Memory, volumeID, target string, readOnly bool) error {
	source := s.contentPath(volumeID)
	if err := s.disk.MkdirAll(source, 0o755); err != nil {
		return err
	}
	return on.BindMountFrom(s.disk, source, target, readOnly)
}

// Copy replaces the content of one volume or snapshot by the content of another one.
func (s *Storage) Copy(from string, at mock.Contents, to string) error {
	other, same := at.(*Storage)
	if !same {
		return fmt.Errorf("copy %s: its other site has no storage", from)
	}
	source, target := s.contentPath(from), other.contentPath(to)
	if err := s.disk.MkdirAll(source, 0o755); err != nil {
		return err
	}
	return machine.CopyTree(s.disk, source, other.disk, target)
}

// Remove removes the content of a volume or snapshot.
func (s *Storage) Remove(id string) error { return s.disk.RemoveAll(s.contentPath(id)) }

// contentPath returns the path of the content of a volume.
func (s *Storage) contentPath(volumeID string) string { return MockContent(s.driver, volumeID) }

// MockContent returns the path, on a machine, of the content of a volume of a mock driver.
func MockContent(driver, volumeID string) string { return path.Join("/mock", driver, volumeID) }
