package ledger

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// needs lists, for each node, the resources that objects of the API need.
type needs map[string]*need

// need holds the things that the pods of one node need.
type need struct {
	pods    map[string]bool // all, by UID
	alive   map[string]bool // pods that may still run, by UID
	volumes map[string]bool // PersistentVolumes of these pods, by name
	hashes  map[string]bool // of their handles
	handles map[string]bool // driver^handle, inline volumes too
}

func newNeed() *need {
	return &need{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
}

func (c *Cluster) needs() needs {
	all := needs{}
	for _, n := range c.Nodes {
		all[n.Name] = newNeed()
	}
	for pod := range store.List[*corev1.Pod](c.Store, "") {
		name := pod.Spec.NodeName
		if name == "" {
			continue
		}
		// A node with a machine that is not examined, such as a real one.
		if all[name] == nil {
			all[name] = newNeed()
		}
		c.need(all[name], pod)
	}
	return all
}

func (c *Cluster) need(n *need, pod *corev1.Pod) {
	n.pods[string(pod.UID)] = true
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return // its volumes are to be unmounted. C-GEN-10
	}
	n.alive[string(pod.UID)] = true
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.CSI != nil {
			n.handles[v.CSI.Driver+"^"+volume.InlineHandle(pod.UID, v.Name)] = true
		}
		key, _, ok := volume.ClaimOf(pod, v)
		if !ok {
			continue
		}
		pvc, ok := store.Get[*corev1.PersistentVolumeClaim](c.Store, key)
		if !ok {
			continue
		}
		if pv, ok := store.Get[*corev1.PersistentVolume](c.Store, store.Key{Name: pvc.Spec.VolumeName}); ok {
			n.use(pv)
		}
	}
}

func (n *need) use(pv *corev1.PersistentVolume) {
	n.volumes[pv.Name] = true
	if source := pv.Spec.CSI; source != nil {
		n.hashes[volume.HandleHash(source.VolumeHandle)] = true
		n.handles[source.Driver+"^"+source.VolumeHandle] = true
	}
}

// accountsFor reports whether a place belongs to a pod of the node, or to a volume that a pod of
// the node uses. Mounts are needed only by pods that may still run.
func (n *need) accountsFor(p Place, mount bool) bool {
	switch {
	case p.Pod != "" && mount:
		return n.alive[p.Pod]
	case p.Pod != "":
		return n.pods[p.Pod]
	default:
		return n.volumes[p.Volume] || n.hashes[p.Handle]
	}
}
