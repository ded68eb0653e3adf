package provisioner

import (
	"cmp"
	"time"

	"github.com/csisim/csisim/drivers/sidecar"
	"github.com/csisim/csisim/internal/world/machine"
)

// Options are what the program's flags say. C-PROV-1
type Options struct {
	// Driver is the name that calls to the driver are recorded under until the
	// driver has told its own.
	Driver string
	// Machine and Socket are where the controller plugin serves.
	Machine machine.Machine
	Socket  string

	// Timeout bounds each CSI call, in virtual time. Default 10 s.
	Timeout time.Duration
	// RetryIntervalStart and RetryIntervalMax bound the delay before a claim or
	// volume that failed is tried again. Default 1 s and 5 min.
	RetryIntervalStart, RetryIntervalMax time.Duration
	// CreateMetadata adds the names of claim and volume to the parameters of
	// CreateVolume, as --extra-create-metadata does. Default: false.
	CreateMetadata bool
	// StrictTopology asks for the selected node's segment and no other.
	StrictTopology bool
	// NoImmediateTopology asks for no topology when no node is selected and the
	// class allows all.
	NoImmediateTopology bool
	// DefaultFSType is used when the class names none. Default none.
	DefaultFSType string
	// ControllerPublishReadOnly makes volumes of claims that are ReadOnlyMany
	// alone read-only.
	ControllerPublishReadOnly bool
	// KubeAPICapacityQPS and KubeAPICapacityBurst are KubeAPIQPS and KubeAPIBurst of the
	// client that writes CSIStorageCapacities. Default: 1 and 5.
	KubeAPICapacityQPS   float64
	KubeAPICapacityBurst int
	// CapacityPollInterval is how often the driver is asked for its capacity again.
	// Default 1 min. C-PROV-91
	CapacityPollInterval time.Duration
	sidecar.Flags
}

// Workers is how many claims, and how many volumes, are worked on at once.
const Workers = 100

// infeasibleDelay is how long a claim rests that the driver called infeasible,
// whatever the retry intervals are. C-PROV-15
const infeasibleDelay = 5 * time.Minute

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.RetryIntervalStart = cmp.Or(o.RetryIntervalStart, time.Second)
	o.RetryIntervalMax = cmp.Or(o.RetryIntervalMax, 5*time.Minute)
	o.KubeAPICapacityQPS = cmp.Or(o.KubeAPICapacityQPS, 1)
	o.KubeAPICapacityBurst = cmp.Or(o.KubeAPICapacityBurst, 5)
	o.CapacityPollInterval = cmp.Or(o.CapacityPollInterval, time.Minute)
	return o
}
