package check

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/world/trace"
)

// Subject is the driver that is checked.
type Subject struct {
	// Driver describes how the driver is reached, as in a scenario's drivers. If the name is empty,
	// the driver's answer is used.
	Driver scenario.Driver
	// OneNode says that one process is the plugin of the only node, as the driver's
	// profile says; a program says so itself.
	OneNode bool
	// Parameters and MountOptions of the StorageClass, and the parameters of the
	// VolumeSnapshotClass. Default: none.
	Parameters, SnapshotParameters map[string]string
	MountOptions                   []string
	// VolumeSize of the volumes; they grow by as much again. If the driver makes larger volumes
	// than that, it is the size of those. Default: 16Mi.
	VolumeSize resource.Quantity
	// Handle is the volume for checking a driver that cannot make any; Attributes are the volume's.
	// Default: a handle of csisim's own making, which suffices for drivers that find a volume by
	// its attributes. The attributes are those of inline volumes, too.
	Handle     string
	Attributes map[string]string
	// AccessModes and VolumeModes are those of the volumes to try; ReadWriteOnce, or else the
	// first, is that of most, and Filesystem is among the modes. Default: all.
	AccessModes, VolumeModes []string
	// FSType is the file system to ask for. Default: the driver's own choice.
	FSType string
	// Secrets are those of its calls. Default: none.
	Secrets profile.Secrets
	// CSIDriver is the spec of the driver's CSIDriver object; with a profile that of the profile.
	// Its attachRequired follows the driver's capabilities. Default: volumes of claims only.
	CSIDriver *storagev1.CSIDriverSpec
}

// offers says whether the CSIDriver object has a lifecycle mode. K-PUB-7
func (s Subject) offers(mode storagev1.VolumeLifecycleMode) bool {
	if s.CSIDriver == nil || len(s.CSIDriver.VolumeLifecycleModes) == 0 {
		return mode == storagev1.VolumeLifecyclePersistent
	}
	return slices.Contains(s.CSIDriver.VolumeLifecycleModes, mode)
}

// leavesOut says why volumes of a kind are not asked for; empty if they are.
func (s Subject) leavesOut(k Kind) string {
	switch {
	case len(s.VolumeModes) > 0 && !slices.Contains(s.VolumeModes, k.Form):
		return "the volume modes to try are " + strings.Join(s.VolumeModes, ", ")
	case len(s.AccessModes) > 0 && !slices.Contains(s.AccessModes, k.Access):
		return "the access modes to try are " + strings.Join(s.AccessModes, ", ")
	}
	return ""
}

// access is the access mode of a claim: for ReadWriteOnce the first that is to be tried, if it
// is not among them.
func (s Subject) access(mode string) string {
	if mode == oneNodeRW && s.leavesOut(Kind{filesystem, mode}) != "" {
		return s.AccessModes[0]
	}
	return mode
}

// oneNode says that only one node can have a plugin.
func (s Subject) oneNode() bool {
	return s.OneNode || s.Driver.Socket != nil || (s.Driver.Program != nil && s.Driver.Program.Single)
}

// size of the volumes.
func (s Subject) size() string {
	if s.VolumeSize.IsZero() {
		return "16Mi"
	}
	return s.VolumeSize.String()
}

// learnSize makes volumes as large as those that the driver has made, which may have rounded sizes
// up: a volume that has room already does not grow, and a copy has to be as large as its origin.
func (s *Subject) learnSize(events []*trace.Event) {
	asked := resource.MustParse(s.size())
	largest := asked.Value()
	for _, e := range events {
		if made, ok := e.Response.(*csi.CreateVolumeResponse); ok && e.Kind == trace.Call {
			largest = max(largest, made.GetVolume().GetCapacityBytes())
		}
	}
	if largest > asked.Value() {
		s.VolumeSize = *resource.NewQuantity(largest, resource.BinarySI)
	}
}

// grown is the size that volumes grow to.
func (s Subject) grown() string {
	twice := resource.MustParse(s.size())
	twice.Add(twice)
	return twice.String()
}

// oddSize is slightly larger than the size of volumes, and no multiple of a round number: 17000001
// bytes for 16Mi.
func (s Subject) oddSize() string {
	size := resource.MustParse(s.size())
	return strconv.FormatInt(size.Value()+222785, 10)
}

// grownAgain is the size to which they grow after that.
func (s Subject) grownAgain() string {
	more := resource.MustParse(s.grown())
	more.Add(resource.MustParse(s.size()))
	return more.String()
}

// ours says that csisim starts the driver, and can therefore end it.
func (s Subject) ours() bool { return s.Driver.Socket == nil }

// clusterYAML is the cluster of a scenario on one node or, empty, the usual one.
func (s Subject) clusterYAML(oneNode bool) string {
	if oneNode || s.oneNode() {
		return "cluster: {nodes: 1}\n\n"
	}
	return ""
}

// driverYAML is the driver as an entry of a scenario's drivers.
func (s Subject) driverYAML() (string, error) {
	text, err := profile.Text(s.Driver)
	if err != nil {
		return "", fmt.Errorf("describe the driver: %w", err)
	}
	return "- " + indented(text, "  "), nil
}

// indented puts an indentation before every line but the first.
func indented(text, by string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by) + "\n"
}
