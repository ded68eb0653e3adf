package csi

import (
	"errors"
	"path"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/kernel"
)

const (
	capStats = csispec.NodeServiceCapability_RPC_GET_VOLUME_STATS
	// capCondition is VOLUME_CONDITION, which CSI 1.13 removed from the bindings.
	capCondition = csispec.NodeServiceCapability_RPC_Type(4)
)

// ErrNoStats: the driver does not return statistics. K-STAT-3
var ErrNoStats = errors.New("metrics are not supported for CSI volumes of this driver")

// Usage is the usage of a volume, in bytes and inodes. Values that the driver omits are zero.
// K-STAT-4
type Usage struct {
	Capacity, Available, Used      int64
	Inodes, InodesFree, InodesUsed int64
	// Condition is the condition of the volume, if the kubelet checks conditions and the driver
	// reports them. K-STAT-6
	Condition *contract.VolumeCondition
}

// Stats requests the statistics of a published volume from its driver. The staging path is not
// sent. K-STAT-3
func (pl *Plugin) Stats(p *kernel.Process, spec *Spec, pod types.UID) (Usage, error) {
	s, err := pl.beginUnaware(p, spec.Driver())
	if err != nil {
		return Usage{}, TransientError{err}
	}
	reports, err := s.has(capStats)
	if err != nil {
		return Usage{}, err
	}
	if !reports {
		return Usage{}, ErrNoStats
	}
	answer, err := s.stats(spec.Handle(pod), s.statsPath(spec, pod))
	if err != nil {
		return Usage{}, err
	}
	condition, err := s.condition(answer)
	if err != nil {
		return Usage{}, err
	}
	if condition == nil && answer.GetUsage() == nil {
		return Usage{}, errors.New("failed to get usage from response. usage is nil")
	}
	usage := usageOf(answer)
	usage.Condition = condition
	return usage, nil
}

func (s *step) stats(handle, target string) (*csispec.NodeGetVolumeStatsResponse, error) {
	if err := given(handle, target, "volume path"); err != nil {
		return nil, err
	}
	return s.node.NodeGetVolumeStats(background, &csispec.NodeGetVolumeStatsRequest{VolumeId: handle, VolumePath: target})
}

// statsPath returns the path of the volume for statistics. For a raw block volume, this is the
// kubelet's bind mount. K-STAT-2
func (d Dir) statsPath(spec *Spec, pod types.UID) string {
	if spec.Block() {
		return path.Join(d.BlockMapDir(spec.Name), string(pod))
	}
	return d.TargetPath(pod, spec.Name)
}

// condition returns the volume's condition. A feature gate controls the request for it. K-STAT-6
func (s *step) condition(answer *csispec.NodeGetVolumeStatsResponse) (*contract.VolumeCondition, error) {
	if !s.kubelet.Features.Enabled(feature.CSIVolumeHealth) {
		return nil, nil
	}
	reports, err := s.has(capCondition)
	if err != nil || !reports {
		return nil, err
	}
	condition, _ := contract.ConditionOf(answer)
	return &condition, nil
}

// usageOf maps units to their entries. If two entries have the same unit, the last one counts.
// K-STAT-4
func usageOf(answer *csispec.NodeGetVolumeStatsResponse) (u Usage) {
	for _, entry := range answer.GetUsage() {
		switch entry.GetUnit() {
		case csispec.VolumeUsage_BYTES:
			u.Available, u.Capacity, u.Used = entry.GetAvailable(), entry.GetTotal(), entry.GetUsed()
		case csispec.VolumeUsage_INODES:
			u.InodesFree, u.Inodes, u.InodesUsed = entry.GetAvailable(), entry.GetTotal(), entry.GetUsed()
		}
	}
	return u
}
