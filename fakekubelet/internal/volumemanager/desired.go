package volumemanager

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/ordered"
	"github.com/csisim/csisim/internal/world/store"
)

// desired is the desired state of world: the volumes that each pod wants.
type desired struct {
	volumes map[string]*wanted
	ofPod   map[types.UID]ordered.Set[string] // the inverse: volume names by pod
	errors  map[types.UID][]string
	// others are pod volumes that other plugins of the kubelet mount, immediately and without a
	// trace.
	others map[types.UID]ordered.Set[string]
}

// wanted is a volume that pods want.
type wanted struct {
	name          string
	attachable    bool   // decided when the volume is first wanted. K-DSW-12
	reportedInUse bool   // the API server lists it in volumesInUse. K-DSW-14
	labels        labels // the labels of the first pod. K-SEL-3
	// size is the volume's size when a pod was last examined. K-EXP-2
	size resource.Quantity
	// newest is its current size.
	newest resource.Quantity
	pods   ordered.Map[types.UID, *wantedBy]
	// lastTurn is the pod for which the volume was last mounted or expanded. K-RACE-22
	lastTurn types.UID
	// grown reports that the volume has grown, which the next sync of a pod will notice.
	grown *store.Watcher[*corev1.PersistentVolume]
}

// wantedBy is the use of a volume by one pod. Pods may have different specs of one volume. K-PATH-9
type wantedBy struct {
	pod         *corev1.Pod
	spec        *csi.Spec
	since       time.Duration // when the pod first wanted the volume, for metrics
	label       string        // the SELinux label to mount with
	volumeNames []string      // pod.spec.volumes[].name; several names if the volumes use one claim
}

func newDesired() *desired {
	return &desired{
		volumes: map[string]*wanted{}, ofPod: map[types.UID]ordered.Set[string]{}, errors: map[types.UID][]string{},
		others: map[types.UID]ordered.Set[string]{},
	}
}

// leaveToOthers notes a pod volume that is not a CSI volume.
func (d *desired) leaveToOthers(pod types.UID, volumeName string) {
	d.others[pod] = d.others[pod].With(volumeName)
}

// hasGrown reports whether the volume is bigger than when a pod was last examined.
func (w *wanted) hasGrown() bool {
	if w.grown == nil {
		return false
	}
	for e, ok := w.grown.Next(); ok; e, ok = w.grown.Next() {
		w.newest = storageOf(e.Object.Spec.Capacity)
	}
	return w.newest.Cmp(w.size) > 0
}

// addVolume adds a volume that no pod has used so far.
func (d *desired) addVolume(name string, attachable bool, l labels) *wanted {
	v := &wanted{name: name, attachable: attachable, labels: l}
	d.volumes[name] = v
	return v
}

// add records that a pod uses a volume, and reports whether this is new. The pod's newest spec
// counts.
func (d *desired) add(v *wanted, pod *corev1.Pod, volumeName string, spec *csi.Spec, now time.Duration) (isNew bool) {
	by := &wantedBy{pod: pod, spec: spec, since: now, label: v.labels.mount, volumeNames: []string{volumeName}}
	was := v.pods.Get(pod.UID)
	if was != nil && !slices.Contains(was.volumeNames, volumeName) {
		by.volumeNames = append(by.volumeNames, was.volumeNames...)
	} else if was != nil {
		by.volumeNames = was.volumeNames
	}
	v.pods.Set(pod.UID, by)
	d.ofPod[pod.UID] = d.ofPod[pod.UID].With(v.name)
	return was == nil
}

// refresh replaces an older state of a pod, so that no other part of the kubelet retains it.
func (d *desired) refresh(pod *corev1.Pod) {
	for _, name := range d.ofPod[pod.UID] {
		d.wants(name, pod.UID).pod = pod
	}
}

func (d *desired) remove(name string, pod types.UID) {
	delete(d.errors, pod)
	v := d.volumes[name]
	if v == nil {
		return
	}
	v.pods.Delete(pod)
	if len(v.pods) == 0 {
		if v.grown != nil {
			v.grown.Close()
		}
		delete(d.volumes, name)
	}
	if d.ofPod[pod] = d.ofPod[pod].Without(name); len(d.ofPod[pod]) == 0 {
		delete(d.ofPod, pod)
	}
}

// wantsAs reports whether a volume is desired with its current mount. If it is mounted with another
// SELinux label, it must be unmounted first. K-REC-4, K-REC-6
func (d *desired) wantsAs(name string, v *held) bool {
	w := d.volumes[name]
	return w != nil && w.labels.mount == v.context()
}

func (d *desired) wants(name string, pod types.UID) *wantedBy {
	v := d.volumes[name]
	if v == nil {
		return nil
	}
	return v.pods.Get(pod)
}

// fail keeps an error for the next wait of the pod. About ten distinct errors are kept. K-DSW-10
func (d *desired) fail(pod types.UID, err error) {
	const kept = 10
	if all := d.errors[pod]; len(all) <= kept && !slices.Contains(all, err.Error()) {
		d.errors[pod] = append(all, err.Error())
	}
}

// popErrors returns the stored errors and drops them. K-RACE-18
func (d *desired) popErrors(pod types.UID) []string {
	all := d.errors[pod]
	delete(d.errors, pod)
	return all
}

func sortedKeys[K ~string, V any](m map[K]V) []K {
	keys := slices.AppendSeq(make([]K, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
