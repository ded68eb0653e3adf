package cluster

import (
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/store"
)

// ImageAt returns the image of the container that serves at a site, without its registry. If there
// are several, as during a surge, it is the image of the last started pod, which has replaced the
// socket.
func ImageAt(s *store.Store, at wire.Site) (image string) {
	var last time.Time
	for pod := range store.Indexed[*corev1.Pod](s, kind.PodsByNode, at.Node) {
		for _, container := range serversIn(pod, path.Dir(at.Socket)) {
			i := slices.IndexFunc(pod.Status.ContainerStatuses, func(status corev1.ContainerStatus) bool {
				return status.Name == container.Name && status.State.Running != nil
			})
			if i < 0 {
				continue
			}
			if started := pod.Status.ContainerStatuses[i].State.Running.StartedAt.Time; image == "" || started.After(last) {
				image, last = path.Base(container.Image), started
			}
		}
	}
	return image
}

// serversIn returns the containers of a pod that can serve a driver in a directory of their node.
func serversIn(pod *corev1.Pod, directory string) (all []corev1.Container) {
	for _, volume := range pod.Spec.Volumes {
		if volume.HostPath == nil || path.Clean(volume.HostPath.Path) != directory {
			continue
		}
		for _, container := range pod.Spec.Containers {
			mounts := slices.ContainsFunc(container.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume.Name })
			if mounts && !isSidecar(container) {
				all = append(all, container)
			}
		}
	}
	return all
}

// isSidecar reports whether the image or the name of a container belongs to a sidecar.
func isSidecar(container corev1.Container) bool {
	image, _, _ := strings.Cut(path.Base(container.Image), ":")
	return slices.ContainsFunc(append(fakecontroller.Names(), "liveness-probe"), func(name string) bool {
		return strings.TrimPrefix(image, "csi-") == strings.TrimPrefix(name, "csi-") || container.Name == name
	})
}
