package attachdetach

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/ordered"
)

// desiredState is the desired state of world: the volumes that scheduled pods need on managed
// nodes. C-ADC-13
type desiredState struct {
	nodes    map[string]map[string]*desiredVolume // by node and volume; managed nodes only
	byVolume map[string]ordered.Set[string]       // nodes that want a volume
	byPod    map[types.UID]*desiredPod
}

// desiredVolume is a volume wanted on one node. It has the spec of the pod that first added it.
type desiredVolume struct {
	spec                *spec
	pods                ordered.Map[types.UID, *corev1.Pod]
	multiAttachReported bool
}

type desiredPod struct {
	pod     *corev1.Pod // as last observed; keeping older states would only use memory
	volumes ordered.Set[string]
}

func newDesiredState() desiredState {
	return desiredState{
		nodes:    map[string]map[string]*desiredVolume{},
		byVolume: map[string]ordered.Set[string]{},
		byPod:    map[types.UID]*desiredPod{},
	}
}

func (d *desiredState) manages(node string) bool { return d.nodes[node] != nil }

func (d *desiredState) addNode(node string) {
	if !d.manages(node) {
		d.nodes[node] = map[string]*desiredVolume{}
	}
}

// removeNode removes a node unless a volume is still needed there. C-ADC-8
func (d *desiredState) removeNode(node string) {
	if len(d.nodes[node]) == 0 {
		delete(d.nodes, node)
	}
}

// get returns nil for a volume that no pod on the node needs.
func (d *desiredState) get(at pair) *desiredVolume { return d.nodes[at.node][at.volume] }

// add adds a pod's need for a volume on its node. It reports whether the volume is new there.
func (d *desiredState) add(s *spec, pod *corev1.Pod) bool {
	at := pair{s.unique(), pod.Spec.NodeName}
	want := d.get(at)
	isNew := want == nil
	if isNew {
		want = &desiredVolume{spec: s}
		d.nodes[at.node][at.volume] = want
		d.byVolume[at.volume] = d.byVolume[at.volume].With(at.node)
	}
	want.pods.Set(pod.UID, pod)
	if d.byPod[pod.UID] == nil {
		d.byPod[pod.UID] = &desiredPod{}
	}
	needs := d.byPod[pod.UID]
	needs.pod, needs.volumes = pod, needs.volumes.With(at.volume)
	return isNew
}

// remove removes a pod's need for a volume. It reports whether no other pod on the node needs it.
func (d *desiredState) remove(volume string, uid types.UID) (at pair, last bool) {
	needs := d.byPod[uid]
	if needs == nil || !needs.volumes.Has(volume) {
		return pair{}, false
	}
	needs.volumes = needs.volumes.Without(volume)
	if len(needs.volumes) == 0 {
		delete(d.byPod, uid)
	}
	at = pair{volume, needs.pod.Spec.NodeName}
	want := d.get(at)
	want.pods.Delete(uid)
	if len(want.pods) > 0 {
		return at, false
	}
	delete(d.nodes[at.node], volume)
	if d.byVolume[volume] = d.byVolume[volume].Without(at.node); len(d.byVolume[volume]) == 0 {
		delete(d.byVolume, volume)
	}
	return at, true
}

// scheduled returns the pods that wait for the volume, by namespace and name.
func (v *desiredVolume) scheduled() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, p := range v.pods {
		pods = append(pods, p.Value)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
	})
	return pods
}
