package snapshot

import "github.com/csisim/csisim/internal/driver/sidecar"

// Name is the name of the program.
const Name = "snapshot-controller"

// Lock is the name of the Lease for leader election. C-LIB-5
const Lock = "snapshot-controller-leader"

// Options are the program's flags.
type Options struct {
	// Replicas is the number of replicas. Only the holder of the Lease works, unless the flag
	// LeaderElection is false. Default: 1.
	Replicas uint `json:"replicas,omitempty" example:"2" doc:"The number of replicas. A replica works only while it holds the Lease, unless the flag leaderElection is false. Default 1."`
	// Flags are the flags that snapshot-controller shares with sidecars. C-LIB-7
	sidecar.Flags
}

// Mistakes returns the invalid flags.
func (o Options) Mistakes() []sidecar.Mistake { return o.CheckElection() }
