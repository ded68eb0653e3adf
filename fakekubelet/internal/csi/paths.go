package csi

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

// Names of files and directories. K-PATH-3, K-PATH-4, K-PATH-5
const (
	dataFile     = "vol_data.json"
	EscapedName  = "kubernetes.io~csi"
	stagingLeaf  = "globalmount"
	publishLeaf  = "mount"
	dirMode      = 0o750
	dataFileMode = 0o644
)

// Dir is the directory of a kubelet, by the path of its flag --root-dir. K-PATH-1
type Dir string

// DefaultDir is the directory of a kubelet without the flag.
const DefaultDir Dir = machine.KubeletDir

// PodsDir returns the directory of the pods' directories.
func (d Dir) PodsDir() string { return string(d) + "/pods" }

func (d Dir) pluginDir() string { return string(d) + "/plugins/kubernetes.io/csi" }

func (d Dir) blockDir() string { return d.pluginDir() + "/volumeDevices" }

// escaped returns a name in the form that paths contain. K-PATH-4
func escaped(name string) string { return strings.ReplaceAll(name, "/", "~") }

// StagingPath returns the path at which a file system volume is staged. K-PATH-3
func (d Dir) StagingPath(driver, handle string) string {
	return d.pluginDir() + "/" + driver + "/" + volume.HandleHash(handle) + "/" + stagingLeaf
}

// oldStagingPath returns the staging path before v1.24.
func (d Dir) oldStagingPath(pv string) string { return path.Join(d.pluginDir(), "pv", pv, stagingLeaf) }

// StagingPath returns the path at which this kubelet stages a filesystem volume. A volume that an
// older kubelet staged elsewhere is staged again. K-PATH-3
func (pl *Plugin) StagingPath(s *Spec) string {
	if !pl.kubelet.Version.Has(version.StagingByHandle) {
		return pl.oldStagingPath(s.Name)
	}
	if s.staging == "" {
		s.staging = pl.Dir.StagingPath(s.Driver(), s.Handle(""))
	}
	return s.staging
}

// PodDir returns the pod's directory.
func (d Dir) PodDir(pod types.UID) string { return d.PodsDir() + "/" + string(pod) }

// TargetPath returns the path at which a filesystem volume is published for a pod. K-PATH-4
func (d Dir) TargetPath(pod types.UID, specName string) string {
	return d.PodsDir() + "/" + string(pod) + "/volumes/" + EscapedName + "/" + escaped(specName) + "/" + publishLeaf
}

// BlockStagingPath returns the path at which a raw block volume is staged. K-PATH-5
func (d Dir) BlockStagingPath(specName string) string {
	return path.Join(d.blockDir(), "staging", specName)
}

// BlockPublishPath returns the device that the driver publishes for a pod. K-PATH-5
func (d Dir) BlockPublishPath(pod types.UID, specName string) string {
	return path.Join(d.blockDir(), "publish", specName, string(pod))
}

// BlockMapDir returns the directory of the kubelet's own bind mounts of a raw block volume.
// K-PATH-5
func (d Dir) BlockMapDir(specName string) string {
	return path.Join(d.blockDir(), escaped(specName), "dev")
}

func (d Dir) blockDataDir(specName string) string {
	return path.Join(d.blockDir(), escaped(specName), "data")
}

// PodDevicePath returns the symbolic link to the device in the pod's directory. K-PATH-5
func (d Dir) PodDevicePath(pod types.UID, specName string) string {
	return path.Join(d.PodDir(pod), "volumeDevices", EscapedName, escaped(specName))
}
