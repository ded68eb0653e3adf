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
	"github.com/csisim/csisim/sim"
)

// Subject is the driver that is checked.
type Subject struct {
	// Driver describes how the driver is started or connected, as in a scenario's drivers. If the
	// name is empty, the name in the driver's answer is used.
	Driver scenario.Driver
	// OneNode means that one process is the plugin of the only node, according to the driver's
	// profile. For a program, Driver.Program.Single has this meaning.
	OneNode bool
	// Parameters and MountOptions belong to the StorageClass, SnapshotParameters to the
	// VolumeSnapshotClass. Default: none.
	Parameters, SnapshotParameters map[string]string
	MountOptions                   []string
	// VolumeSize is the size of the volumes; an expansion adds the same amount. If the driver
	// creates larger volumes, VolumeSize is set to their size. Default: 16Mi.
	VolumeSize resource.Quantity
	// Handle is the id of an existing volume, for a driver that cannot create any, and Attributes
	// are the volume's attributes. Default: a generated handle; it is enough for drivers that find
	// a volume by its attributes. Inline volumes have these attributes, too.
	Handle     string
	Attributes map[string]string
	// AccessModes and VolumeModes are the modes of the volumes to try. Most volumes have
	// ReadWriteOnce or, without it, the first mode. Filesystem has to be included. Default: all.
	AccessModes, VolumeModes []string
	// FSType is the requested file system. Default: the driver's own choice.
	FSType string
	// Secrets are the Secrets of its calls. Default: none.
	Secrets profile.Secrets
	// CSIDriver is the spec of the driver's CSIDriver object, possibly from its profile. Its
	// attachRequired follows from the driver's capabilities. Default: volumes of claims only.
	CSIDriver *storagev1.CSIDriverSpec
	// KubeletDir is the directory of the kubelets. Default: /var/lib/kubelet.
	KubeletDir scenario.KubeletDir
	// Lacks lists the sidecars that are missing in the driver's own manifests. Capabilities that
	// need these sidecars are not tried. Default: none.
	Lacks []sim.Sidecar
}

func (s Subject) lacksSidecar(name sim.Sidecar) bool { return slices.Contains(s.Lacks, name) }

// offers reports whether the CSIDriver object has a lifecycle mode. K-PUB-7
func (s Subject) offers(mode storagev1.VolumeLifecycleMode) bool {
	if s.CSIDriver == nil || len(s.CSIDriver.VolumeLifecycleModes) == 0 {
		return mode == storagev1.VolumeLifecyclePersistent
	}
	return slices.Contains(s.CSIDriver.VolumeLifecycleModes, mode)
}

// leavesOut returns the reason why volumes of a kind are not requested; empty if they are.
func (s Subject) leavesOut(k Kind) string {
	switch {
	case len(s.VolumeModes) > 0 && !slices.Contains(s.VolumeModes, k.Form):
		return "the volume modes to try are " + strings.Join(s.VolumeModes, ", ")
	case len(s.AccessModes) > 0 && !slices.Contains(s.AccessModes, k.Access):
		return "the access modes to try are " + strings.Join(s.AccessModes, ", ")
	}
	return ""
}

// access returns the access mode of a claim: the first mode to try if ReadWriteOnce is not to be
// tried.
func (s Subject) access(mode string) string {
	if mode == oneNodeRW && s.leavesOut(Kind{filesystem, mode}) != "" {
		return s.AccessModes[0]
	}
	return mode
}

// oneNode reports whether only one node can have a plugin.
func (s Subject) oneNode() bool {
	return s.OneNode || s.Driver.Socket != nil || (s.Driver.Program != nil && s.Driver.Program.Single)
}

// size returns the size of the volumes.
func (s Subject) size() string {
	if s.VolumeSize.IsZero() {
		return "16Mi"
	}
	return s.VolumeSize.String()
}

// learnSize sets the size of volumes to the size of the driver's volumes. A driver may round sizes
// up; then an expansion could have no effect, or a copy could be smaller than its source.
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

// grown returns the size of an expanded volume.
func (s Subject) grown() string {
	twice := resource.MustParse(s.size())
	twice.Add(twice)
	return twice.String()
}

// oddSize returns a size that is slightly larger than the size of volumes and not a multiple of a
// round number, such as 17000001 bytes for 16Mi.
func (s Subject) oddSize() string {
	size := resource.MustParse(s.size())
	return strconv.FormatInt(size.Value()+222785, 10)
}

// grownAgain returns the size of a volume after a second expansion.
func (s Subject) grownAgain() string {
	more := resource.MustParse(s.grown())
	more.Add(resource.MustParse(s.size()))
	return more.String()
}

// ours reports whether csisim starts the driver and can therefore end it.
func (s Subject) ours() bool { return s.Driver.Socket == nil }

// usualNodes is the default number of nodes in the cluster of a scenario.
const usualNodes = 2

// clusterYAML returns the cluster of a scenario with the given number of nodes and the kubelet's
// directory; empty for the default cluster.
func (s Subject) clusterYAML(nodes int) string {
	if s.oneNode() {
		nodes = 1
	}
	var fields []string
	if nodes != usualNodes {
		fields = append(fields, fmt.Sprintf("nodes: %d", nodes))
	}
	if dir := s.KubeletDir.YAML(); dir != "" {
		fields = append(fields, "kubeletDir: "+dir)
	}
	if len(fields) == 0 {
		return ""
	}
	return "cluster: {" + strings.Join(fields, ", ") + "}\n\n"
}

// driverYAML returns the driver as an entry of a scenario's drivers.
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
