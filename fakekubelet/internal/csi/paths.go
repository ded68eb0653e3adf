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
	PodsDir      = machine.KubeletDir + "/pods"
	pluginDir    = machine.KubeletDir + "/plugins/kubernetes.io/csi"
	blockDir     = pluginDir + "/volumeDevices"
	EscapedName  = "kubernetes.io~csi"
	stagingLeaf  = "globalmount"
	publishLeaf  = "mount"
	dirMode      = 0o750
	dataFileMode = 0o644
)

// escaped is a name as it may stand in a path. K-PATH-4
func escaped(name string) string { return strings.ReplaceAll(name, "/", "~") }

// StagingPath is where a filesystem volume is staged. K-PATH-3
func StagingPath(driver, handle string) string {
	return pluginDir + "/" + driver + "/" + volume.HandleHash(handle) + "/" + stagingLeaf
}

// oldStagingPath is where it was staged before v1.24.
func oldStagingPath(pv string) string { return path.Join(pluginDir, "pv", pv, stagingLeaf) }

// StagingPath is where this kubelet stages a filesystem volume. A volume that an older
// kubelet staged elsewhere is staged again. K-PATH-3
func (pl *Plugin) StagingPath(s *Spec) string {
	if !pl.kubelet.Version.Has(version.StagingByHandle) {
		return oldStagingPath(s.Name)
	}
	if s.staging == "" {
		s.staging = StagingPath(s.Driver(), s.Handle(""))
	}
	return s.staging
}

// PodDir is the pod's directory.
func PodDir(pod types.UID) string { return PodsDir + "/" + string(pod) }

// TargetPath is where a filesystem volume is published for a pod. K-PATH-4
func TargetPath(pod types.UID, specName string) string {
	return PodsDir + "/" + string(pod) + "/volumes/" + EscapedName + "/" + escaped(specName) + "/" + publishLeaf
}

// BlockStagingPath is where a raw block volume is staged. K-PATH-5
func BlockStagingPath(specName string) string { return path.Join(blockDir, "staging", specName) }

// BlockPublishPath is the device that the driver publishes for a pod. K-PATH-5
func BlockPublishPath(pod types.UID, specName string) string {
	return path.Join(blockDir, "publish", specName, string(pod))
}

// BlockMapDir is the directory of the kubelet's own bind mounts of a raw block volume. K-PATH-5
func BlockMapDir(specName string) string { return path.Join(blockDir, escaped(specName), "dev") }

func blockDataDir(specName string) string { return path.Join(blockDir, escaped(specName), "data") }

// PodDevicePath is the symbolic link to the device in the pod's directory. K-PATH-5
func PodDevicePath(pod types.UID, specName string) string {
	return path.Join(PodDir(pod), "volumeDevices", EscapedName, escaped(specName))
}
