package ledger

import "slices"

// Backend describes the things that a driver keeps outside the cluster.
type Backend struct {
	Driver string
	// Before holds its contents before the run.
	Before Holdings
	// Holds requests its present contents from the driver.
	Holds func() (Holdings, error)
	// Fences requests the address ranges that the driver keeps off its storage; nil if it fences
	// nothing.
	Fences func() ([]string, error)
	// NodeID is the id that a node has in the driver, and IDs are all that may mean it.
	NodeID func(node string) string
	IDs    func(node string) []string
}

// Holdings are the contents of a driver's backend. A nil list means that the driver does not report
// it.
type Holdings struct {
	Volumes   []HeldVolume
	Snapshots []string // ids
}

// HeldVolume is a volume in a backend.
type HeldVolume struct {
	ID, Name string // the name is known of a mock only
	NodeIDs  []string
}

// ids are those of the volumes.
func (h Holdings) ids() map[string]bool {
	ids := make(map[string]bool, len(h.Volumes))
	for _, v := range h.Volumes {
		ids[v.ID] = true
	}
	return ids
}

func (h Holdings) find(volume string) int {
	return slices.IndexFunc(h.Volumes, func(v HeldVolume) bool { return v.ID == volume })
}

func (h Holdings) attached(volume, nodeID string) bool {
	i := h.find(volume)
	return i >= 0 && slices.Contains(h.Volumes[i].NodeIDs, nodeID)
}
