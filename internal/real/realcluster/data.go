package realcluster

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// dataCheck writes to the volumes of the scenario's pods and reads them, on their nodes. The pods'
// containers only sleep; in a simulation they read and write themselves. Containers with other
// images are left alone.
type dataCheck struct {
	*Cluster
	check  *data.Check
	begun  map[types.UID]string // the containers that have started, by pod
	lost   []verdict.Verdict
	unseen map[string]bool // reasons why some volumes were not checked
}

func newDataCheck(c *Cluster) *dataCheck {
	d := &dataCheck{Cluster: c, check: data.New(), begun: map[types.UID]string{}, unseen: map[string]bool{}}
	d.check.Now = func() time.Duration { return time.Since(c.clock.began) }
	d.check.Serves = c.IsInstalled
	d.check.OnViolation = func(u data.Use, v verdict.Verdict) {
		d.lost = append(d.lost, v)
		c.world.Trace.Add(trace.Entry{Kind: trace.DataLost, Actor: "kubelet", Node: u.Node, Driver: u.Volume.Driver, Name: u.Pod, Message: v.Found[0], Detail: v})
	}
	return d
}

// follow starts the data check for the new containers of a running pod.
func (d *dataCheck) follow(pod *corev1.Pod) {
	if d.options.NoDataCheck || !runs(pod) || !allSleep(pod) {
		return
	}
	ids := ""
	for _, s := range pod.Status.ContainerStatuses {
		ids += s.ContainerID + " "
	}
	if d.begun[pod.UID] == ids {
		return
	}
	d.begun[pod.UID] = ids
	d.after(func() { d.each(pod, d.check.Start) })
}

// readAll makes all running pods read their volumes.
func (d *dataCheck) readAll() {
	d.pump()
	for pod := range store.List[*corev1.Pod](d.world.Store, "") {
		if runs(pod) && d.begun[pod.UID] != "" {
			d.each(pod, func(u data.Use) { d.check.Read(u) })
		}
	}
}

// each visits the volumes of a pod sequentially, while the pod has them.
func (d *dataCheck) each(pod *corev1.Pod, do func(data.Use)) {
	if err := d.canLook(pod.Spec.NodeName); err != nil {
		d.unseen[fmt.Sprintf("the data of pods on %s: %v", pod.Spec.NodeName, err)] = true
		return
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		of, ok := volume.OfPod(d.world.Store, pod, v)
		if !ok || of.Driver == "" {
			continue
		}
		use, place := d.use(pod, v, of)
		found, err := d.lookAt(place)
		if err != nil {
			d.unseen[err.Error()] = true
			continue
		}
		if d.stillHas(pod, found) {
			use.Machine = found
			do(use)
		}
	}
}

// use returns a pod's volume, and the path where it is published.
func (d *dataCheck) use(pod *corev1.Pod, v *corev1.Volume, of volume.OfDriver) (data.Use, publishedAt) {
	path := fakekubelet.TargetPath
	if of.Block {
		path = fakekubelet.BlockPublishPath
	}
	use := data.Use{
		Pod: pod.Namespace + "/" + pod.Name, Name: of.Name, Node: pod.Spec.NodeName, Volume: data.Volume{Driver: of.Driver, Handle: of.Handle},
		Path: path(machine.KubeletDir, pod.UID, of.Name), Block: of.Block, Writable: !of.ReadOnly && volume.IsWritten(pod, v.Name),
	}
	return use, publishedAt{node: pod.Spec.NodeName, path: path(machine.KubeletDir, pod.UID, d.volumeInCluster(of.Name)), block: of.Block, apart: d.driver(of.Driver).Apart}
}

// stillHas reports whether a pod still has its volumes after something was found there. Otherwise
// the finding is no evidence against the driver.
func (d *dataCheck) stillHas(pod *corev1.Pod, found *published) bool {
	if found.isAmiss() {
		time.Sleep(2 * late) // the pod's end may not have arrived yet
	}
	d.takeIn()
	now, there := store.Get[*corev1.Pod](d.world.Store, store.KeyOf(pod))
	return there && now.UID == pod.UID && runs(now)
}

// unseenVolumes returns why some volumes were not checked.
func (d *dataCheck) unseenVolumes() []string { return slices.Sorted(maps.Keys(d.unseen)) }

// runs reports whether all containers of a pod run, and the pod is not being deleted.
func runs(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning && len(pod.Status.ContainerStatuses) == len(pod.Spec.Containers) &&
		!slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.State.Running == nil })
}

// allSleep reports whether all containers of a pod are stand-ins that sleep.
func allSleep(pod *corev1.Pod) bool {
	return !slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool { return !deploy.Sleeps(c.Image) })
}
