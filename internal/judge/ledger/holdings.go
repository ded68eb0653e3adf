package ledger

import "slices"

// Backend is what a driver keeps outside the cluster.
type Backend struct {
	Driver string
	// Before is what it had before the run.
	Before Holdings
	// Holds asks the driver what it has now.
	Holds func() (Holdings, error)
	// Fences asks the driver which address ranges it keeps off its storage; nil if it fences nothing.
	Fences func() ([]string, error)
	// NodeID is the id that a node has in the driver, and IDs are all that may mean it.
	NodeID func(node string) string
	IDs    func(node string) []string
}

// Holdings are what a driver has in its backend; nil lists are those that it does not
// report.
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
