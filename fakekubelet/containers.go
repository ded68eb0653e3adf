package fakekubelet

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/csi"
	"github.com/csisim/csisim/fakekubelet/runtime"
	"github.com/csisim/csisim/sim/kernel"
)

// runContainers starts the pod's sandbox and containers; their volumes are there.
func (w *podWorker) runContainers(p *kernel.Process) {
	if w.pod.Status.Phase == corev1.PodRunning {
		w.Event(w.pod, corev1.EventTypeNormal, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
	}
	for i := range w.pod.Spec.Containers {
		_ = w.options.Machine.MkdirAll(csi.PodDir(w.pod.UID)+"/containers/"+w.pod.Spec.Containers[i].Name, 0o750)
	}
	w.options.Runtime.Run(w.pod, w.mountsOf)
	w.startData()
	w.setStatus(p, w.sandboxStatus())
	for i := range w.pod.Spec.Containers {
		c := &w.pod.Spec.Containers[i]
		w.Event(w.pod, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", c.Image)
		w.Event(w.pod, corev1.EventTypeNormal, "Created", "Container created")
		w.Event(w.pod, corev1.EventTypeNormal, "Started", "Container started")
	}
	w.setStatus(p, w.runningStatus())
}

// mountsOf is what the runtime is told of a container's CSI volumes.
func (w *podWorker) mountsOf(c *corev1.Container) []runtime.Mount {
	var mounts []runtime.Mount
	for _, m := range c.VolumeMounts {
		if spec := w.volumes.SpecOf(w.pod.UID, m.Name); spec != nil {
			mounts = append(mounts, runtime.Mount{
				Container: m.MountPath, Host: csi.TargetPath(w.pod.UID, spec.Name), ReadOnly: m.ReadOnly || spec.ReadOnly,
			})
		}
	}
	for _, d := range c.VolumeDevices {
		if spec := w.volumes.SpecOf(w.pod.UID, d.Name); spec != nil {
			mounts = append(mounts, runtime.Mount{
				Device: d.DevicePath, Host: csi.PodDevicePath(w.pod.UID, spec.Name), Permissions: "mrw",
			})
		}
	}
	return mounts
}

// makePodDirectories makes the pod's directories. K-POD-1
func (w *podWorker) makePodDirectories() {
	dir := csi.PodDir(w.pod.UID)
	if _, err := w.options.Machine.Lstat(dir); err == nil {
		return
	}
	for _, sub := range []string{"", "/volumes", "/plugins"} {
		_ = w.options.Machine.MkdirAll(dir+sub, 0o750)
	}
}
