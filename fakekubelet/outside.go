package fakekubelet

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/component"
)

// Runtime is the container runtime of a node. It continues while the kubelet is down.
type Runtime = runtime.Runtime

// Program is a container that is started and ended individually.
type Program = runtime.Program

// Life describes how the instances of a record container end.
type Life = runtime.Life

// RuntimeOptions select the containers that are programs.
type RuntimeOptions = runtime.Options

// Networks are the networks of a node and its pods.
type Networks = runtime.Networks

// ContainerMount is a mount of a volume in a container.
type ContainerMount = runtime.Mount

// RootFS is the root file system of an image.
type RootFS = runtime.RootFS

// Maps reports whether images has an entry for the image of a container, with or without its tag.
func Maps(images map[string]string, image string) bool {
	_, is := runtime.OfImage(images, image)
	return is
}

// NewRuntime returns the runtime of a node without containers.
func NewRuntime(w *component.World, node string, o RuntimeOptions) *Runtime {
	return runtime.New(w, node, o)
}

// TargetPath returns the path at which a volume is published for a pod, below a kubelet's
// directory. K-PATH-4
func TargetPath(kubeletDir string, pod types.UID, specName string) string {
	return csi.Dir(kubeletDir).TargetPath(pod, specName)
}

// BlockPublishPath returns the device that a driver publishes for a pod, below a kubelet's
// directory. K-PATH-5
func BlockPublishPath(kubeletDir string, pod types.UID, specName string) string {
	return csi.Dir(kubeletDir).BlockPublishPath(pod, specName)
}
