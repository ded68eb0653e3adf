package fakekubelet

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// runContainers starts the pod's sandbox and containers after their volumes were mounted. It
// returns false if they cannot run, for example because a subpath cannot be mounted or a secret is
// missing.
func (w *podWorker) runContainers(p *kernel.Process) bool {
	if err := w.checkVolumes(p); err != nil {
		w.Event(w.pod, corev1.EventTypeWarning, "FailedMount", "%v", err)
		return false
	}
	mounts, unfit, err := w.allMounts(p)
	if err != nil {
		w.Event(w.pod, corev1.EventTypeWarning, "Failed", "Error: %v", err)
		w.setStatus(p, w.configErrorStatus(unfit, err))
		return false
	}
	if w.pod.Status.Phase == corev1.PodRunning {
		w.Event(w.pod, corev1.EventTypeNormal, "SandboxChanged", "Pod sandbox changed, it will be killed and re-created.")
	}
	for _, c := range runtime.Containers(w.pod) {
		_, _ = w.makeTerminationLog(c.Name)
	}
	w.options.Runtime.Run(w.pod, func(c *corev1.Container) []runtime.Mount { return mounts[c.Name] })
	w.startData()
	w.setStatus(p, w.sandboxStatus())
	for _, c := range runtime.Containers(w.pod) {
		w.Event(w.pod, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", c.Image)
		w.Event(w.pod, corev1.EventTypeNormal, "Created", "Container created")
		w.Event(w.pod, corev1.EventTypeNormal, "Started", "Container started")
		w.sayRecord(c)
	}
	w.setStatus(p, w.runningStatus())
	w.startEphemeral()
	return true
}

// stopContainers stops a pod's containers, if it has any. The container's labels have the object of
// the event: the pod may be deleted. (trace o1)
func (k *Kubelet) stopContainers(uid types.UID) {
	pod, containers := k.stopSandbox(uid)
	for _, name := range containers {
		k.Event(pod, corev1.EventTypeNormal, "Killing", "Stopping container %s", name)
	}
}

// stopSandbox ends a pod's containers and their mounts. It returns the metadata of the pod (nil if
// it had no sandbox) and the names of the containers.
func (k *Kubelet) stopSandbox(uid types.UID) (*metav1.PartialObjectMetadata, []string) {
	if m, can := k.options.Machine.(machine.Views); can {
		_ = m.CloseViews(k.csi.PodDir(uid)) // the descriptor is free even if closing it fails
	}
	return k.options.Runtime.Stop(uid)
}

// allMounts returns the mounts of the CSI volumes of each container for the runtime. If mounts
// cannot be made for a container, it returns the container's name.
func (w *podWorker) allMounts(p *kernel.Process) (all map[string][]runtime.Mount, unfit string, err error) {
	all = map[string][]runtime.Mount{}
	for _, c := range runtime.Containers(w.pod) {
		mounts, err := w.mountsOf(p, c)
		if err == nil {
			err = w.checkVariables(p, c)
		}
		if err != nil {
			return nil, c.Name, err
		}
		all[c.Name] = append(mounts, w.devicesOf(c)...)
	}
	return all, "", nil
}

func (w *podWorker) mountsOf(p *kernel.Process, c *corev1.Container) ([]runtime.Mount, error) {
	var mounts []runtime.Mount
	for i, m := range c.VolumeMounts {
		spec := w.volumes.SpecOf(w.pod.UID, m.Name)
		if spec == nil {
			continue
		}
		sub, err := w.subPathOf(p, c, &c.VolumeMounts[i])
		if err != nil {
			return nil, err
		}
		host, err := w.driversVolume(p, c, i, spec, sub)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, runtime.Mount{Container: m.MountPath, Host: host, ReadOnly: m.ReadOnly || spec.ReadOnly})
	}
	return mounts, nil
}

func (w *podWorker) devicesOf(c *corev1.Container) []runtime.Mount {
	var devices []runtime.Mount
	for _, d := range c.VolumeDevices {
		if spec := w.volumes.SpecOf(w.pod.UID, d.Name); spec != nil {
			devices = append(devices, runtime.Mount{
				Device: d.DevicePath, Host: w.csi.PodDevicePath(w.pod.UID, spec.Name), Permissions: "mrw",
			})
		}
	}
	return devices
}

// makePodDirectories makes the pod's directories. K-POD-1
func (w *podWorker) makePodDirectories() {
	dir := w.csi.PodDir(w.pod.UID)
	if _, err := w.options.Machine.Lstat(dir); err == nil {
		return
	}
	for _, sub := range []string{"", "/volumes", "/plugins"} {
		_ = w.options.Machine.MkdirAll(dir+sub, 0o750)
	}
}
