package ledger

// Backend describes the things that a driver keeps outside the cluster.
type Backend struct {
	Driver string
	// Before holds its contents before the run.
	Before Holdings
	// Holds requests its present contents from the driver.
	Holds func() (Holdings, error)
	// Fences requests the address ranges that the driver fences off its storage; nil if it does not
	// fence.
	Fences func() ([]string, error)
	// NodeID is a node's id in the driver, and IDs are all ids that may denote the node.
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
	ID, Name string // only a mock reports the name
	NodeIDs  []string
}

// nodeIDs returns the node ids of each volume, by the volume's id.
func (h Holdings) nodeIDs() map[string][]string {
	all := make(map[string][]string, len(h.Volumes))
	for _, v := range h.Volumes {
		all[v.ID] = v.NodeIDs
	}
	return all
}
