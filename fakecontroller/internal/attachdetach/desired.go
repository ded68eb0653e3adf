package attachdetach

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// desiredState is the desired state of world: which volumes the pods scheduled to
// a managed node need there. C-ADC-13
type desiredState struct {
	nodes    map[string]map[string]*desiredVolume // by node and volume; managed nodes only
	byVolume map[string]map[string]bool           // nodes that want a volume
	byPod    map[types.UID]*desiredPod
}

// desiredVolume is a volume wanted on one node. Its spec is that of the pod that
// introduced it.
type desiredVolume struct {
	spec                *spec
	pods                map[types.UID]*corev1.Pod
	multiAttachReported bool
}

type desiredPod struct {
	pod     *corev1.Pod // as it was last seen: older states would only be held in memory
	volumes map[string]bool
}

func newDesiredState() desiredState {
	return desiredState{
		nodes:    map[string]map[string]*desiredVolume{},
		byVolume: map[string]map[string]bool{},
		byPod:    map[types.UID]*desiredPod{},
	}
}

func (d *desiredState) manages(node string) bool { return d.nodes[node] != nil }

func (d *desiredState) addNode(node string) {
	if !d.manages(node) {
		d.nodes[node] = map[string]*desiredVolume{}
	}
}

// removeNode forgets a node unless a volume is still wanted there. C-ADC-8
func (d *desiredState) removeNode(node string) {
	if len(d.nodes[node]) == 0 {
		delete(d.nodes, node)
	}
}

// get is nil for a volume that nobody wants on the node.
func (d *desiredState) get(at pair) *desiredVolume { return d.nodes[at.node][at.volume] }

// add says that a pod needs a volume on its node; it reports whether the volume
// is new there.
func (d *desiredState) add(s *spec, pod *corev1.Pod) bool {
	at := pair{s.unique(), pod.Spec.NodeName}
	want := d.get(at)
	isNew := want == nil
	if isNew {
		want = &desiredVolume{spec: s, pods: map[types.UID]*corev1.Pod{}}
		d.nodes[at.node][at.volume] = want
		if d.byVolume[at.volume] == nil {
			d.byVolume[at.volume] = map[string]bool{}
		}
		d.byVolume[at.volume][at.node] = true
	}
	want.pods[pod.UID] = pod
	if d.byPod[pod.UID] == nil {
		d.byPod[pod.UID] = &desiredPod{volumes: map[string]bool{}}
	}
	d.byPod[pod.UID].pod = pod
	d.byPod[pod.UID].volumes[at.volume] = true
	return isNew
}

// remove says that a pod needs a volume no more; it reports whether nobody on the
// node does.
func (d *desiredState) remove(volume string, uid types.UID) (at pair, last bool) {
	needs := d.byPod[uid]
	if needs == nil || !needs.volumes[volume] {
		return pair{}, false
	}
	delete(needs.volumes, volume)
	if len(needs.volumes) == 0 {
		delete(d.byPod, uid)
	}
	at = pair{volume, needs.pod.Spec.NodeName}
	want := d.get(at)
	delete(want.pods, uid)
	if len(want.pods) > 0 {
		return at, false
	}
	delete(d.nodes[at.node], volume)
	delete(d.byVolume[volume], at.node)
	if len(d.byVolume[volume]) == 0 {
		delete(d.byVolume, volume)
	}
	return at, true
}

// scheduled is the pods that wait for the volume, by namespace and name.
func (v *desiredVolume) scheduled() []*corev1.Pod {
	return slices.SortedFunc(maps.Values(v.pods), func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
}
