package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// conformance: adc-no-taint-waits
func TestDetachVerdict(t *testing.T) {
	const long = maxWaitForUnmount + 1
	cases := []struct {
		rule string
		view detachView
		want detachVerdict
	}{
		{"C-ADC-25: unmounted", detachView{healthy: true}, detachVerdict{detach: true}},
		{"C-ADC-25: mounted", detachView{mounted: true, healthy: true}, detachVerdict{}},
		{"C-ADC-25: mounted, unhealthy, not yet", detachView{mounted: true, waited: maxWaitForUnmount}, detachVerdict{}},
		{"C-ADC-24: mounted, unhealthy, for long", detachView{mounted: true, waited: long}, detachVerdict{detach: true, force: byTimeout}},
		{"C-ADC-24: mounted, healthy, for long", detachView{mounted: true, healthy: true, waited: long}, detachVerdict{}},
		{"C-ADC-24: force is switched off", detachView{mounted: true, waited: long, neverByForce: true}, detachVerdict{}},
		{"C-ADC-25: mounted, out of service", detachView{mounted: true, outOfService: true}, detachVerdict{detach: true, force: byOutOfService}},
		{"C-ADC-25: out of service though healthy", detachView{mounted: true, healthy: true, outOfService: true}, detachVerdict{detach: true, force: byOutOfService}},
		{"C-ADC-29: out of service for long", detachView{mounted: true, outOfService: true, waited: long}, detachVerdict{detach: true, force: byTimeout}},
		{"C-ADC-26: unmounted after long, not verified even if healthy", detachView{healthy: true, waited: long}, detachVerdict{detach: true, force: byTimeout}},
		{"C-ADC-26: unmounted after long, force switched off", detachView{healthy: true, waited: long, neverByForce: true}, detachVerdict{detach: true}},
	}
	for _, tc := range cases {
		t.Run(tc.rule, func(t *testing.T) { assert.Equal(t, tc.want, tc.view.decide()) })
	}
}

// attachedPod returns a cluster in which pod p on node-a uses volume v.
func attachedPod(t *testing.T, opts Options) *cluster {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v")
	c.attacher()
	Start(c.World, opts)
	c.pod("p", "node-a", "v")
	c.At(time.Second)
	c.uses("node-a", "v")
	c.At(10 * time.Second)
	return c
}

func (c *cluster) gone(volume, node string) func() bool {
	return func() bool { return c.attachment(volume, node) == nil }
}

// K-ATT-10, fact 35, golden o1: 360 s after the deletion of the pod.
func TestSilentNodeIsDetachedByForceAfterSixMinutes(t *testing.T) {
	c := attachedPod(t, Options{})
	c.silent("node-a")
	c.deletePod("p")
	c.pod("q", "node-b", "v")
	at := c.until("forced detach", c.gone("v", "node-a"))
	// More than 6 min, at the next poll.
	assert.Equal(t, 10*time.Second+maxWaitForUnmount+pollPeriod, at)
	c.until("attachment elsewhere", func() bool { return len(c.volumesAttached("node-b")) == 1 })
	assert.Contains(t, c.story(), `10s Pod/q FailedAttachVolume Multi-Attach error for volume "v" Volume is already exclusively attached to one node and can't be attached to another`)
}

// C-ADC-23: the time counts from the first pass that wanted to detach, even if the node becomes
// silent later. conformance: adc-detach-clock-runs-from-first-request
func TestNodeThatFallsSilentLateIsDetachedAtOnce(t *testing.T) {
	c := attachedPod(t, Options{})
	c.deletePod("p")
	c.At(20 * time.Minute)
	assert.NotNil(t, c.attachment("v", "node-a"), "a healthy node is waited for")
	c.silent("node-a")
	at := c.until("forced detach", c.gone("v", "node-a"))
	assert.Equal(t, 20*time.Minute, at)
}

func TestForceDetachCanBeSwitchedOff(t *testing.T) { // K-ATT-10
	c := attachedPod(t, Options{DisableForceDetachOnTimeout: true})
	c.silent("node-a")
	c.deletePod("p")
	c.At(time.Hour)
	assert.NotNil(t, c.attachment("v", "node-a"))
}

// C-ADC-25, K-ATT-10, fact 35, golden o2: at once.
func TestOutOfServiceNodeIsDetachedAtOnce(t *testing.T) {
	c := attachedPod(t, Options{})
	c.silent("node-a")
	c.changeNode("node-a", func(n *corev1.Node) {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}}
	})
	c.deletePod("p")
	at := c.until("detach", c.gone("v", "node-a"))
	assert.Equal(t, 10*time.Second, at)
	assert.Empty(t, c.volumesAttached("node-a"))
}

// C-ADC-63, fact 59, golden ff1: the attachment of a deleted node waits until the node returns, or
// six minutes have passed.
func TestDeletedNode(t *testing.T) {
	deleteNode := func(c *cluster) {
		_, err := store.Delete[*corev1.Node](c.Store, store.Key{Name: "node-a"})
		assert.NoError(c.T, err)
	}
	t.Run("comes back", func(t *testing.T) {
		c := attachedPod(t, Options{})
		deleteNode(c)
		c.deletePod("p")
		c.At(100 * time.Second)
		assert.NotNil(t, c.attachment("v", "node-a"))
		c.node("node-a")
		assert.Equal(t, 100*time.Second, c.until("detach", c.gone("v", "node-a")))
	})
	t.Run("stays away", func(t *testing.T) {
		c := attachedPod(t, Options{})
		deleteNode(c)
		c.deletePod("p")
		at := c.until("detach", c.gone("v", "node-a"))
		assert.Equal(t, 10*time.Second+maxWaitForUnmount+pollPeriod, at)
	})
}

// C-OP-5, K-ATT-10: the API server's answer decides.
func TestDetachIsRefusedWhileTheNodeReportsTheVolumeInUse(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	a := Start(c.World, Options{})
	c.At(time.Second)
	at := pair{unique("v"), "node-a"}
	pv, _ := store.Get[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	s, _ := a.specOf(pv)
	testcluster.Create(c, attachmentOf(at, s))
	a.actual.markAttached(at, s)
	c.uses("node-a", "v")
	c.At(2 * time.Second)
	delete(a.actual.inUse["node-a"], at.volume) // the controller has not observed the report
	a.mark(at)
	c.At(5 * time.Second)
	assert.NotNil(t, c.attachment("v", "node-a"))
	assert.False(t, a.actual.confirmed(at), "C-OP-4: after an error it is uncertain")
}

// C-ADC-31
func TestMultiAttachAllowed(t *testing.T) {
	cases := map[string]struct {
		modes []corev1.PersistentVolumeAccessMode
		want  bool
	}{
		"no modes": {nil, true},
		"RWO":      {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, false},
		// C-ADC-36.
		"RWOP":      {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, false},
		"RWO + ROX": {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany}, true},
		"RWX":       {[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pv := &corev1.PersistentVolume{
				ObjectMeta: metav1.ObjectMeta{Name: "v"},
				Spec: corev1.PersistentVolumeSpec{
					AccessModes: tc.modes, Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				},
			}
			s := &spec{pv: pv}
			assert.Equal(t, tc.want, s.multiAttachAllowed())
			assert.Equal(t, tc.want, s.operationKey(pair{"v", "n"}).Node != "", "C-OP-7")
		})
	}
	assert.True(t, (*spec)(nil).multiAttachAllowed(), "nothing is known of it")
}

// C-ADC-35
// conformance: adc-multi-attach-event-nobody, adc-multi-attach-event-same-ns,
// adc-multi-attach-event-other-ns, adc-multi-attach-event-both-ns
func TestUsersOfOtherNamespacesAreNotNamed(t *testing.T) {
	pod := func(namespace, name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	cases := []struct {
		users []*corev1.Pod
		want  string
	}{
		{nil, "Volume is already exclusively attached to one node and can't be attached to another"},
		{[]*corev1.Pod{pod("mine", "a"), pod("mine", "b")}, "Volume is already used by pod(s) a, b"},
		{[]*corev1.Pod{pod("mine", "a"), pod("other", "b")}, "Volume is already used by pod(s) a and 1 pod(s) in different namespaces"},
		{[]*corev1.Pod{pod("other", "b"), pod("third", "c")}, "Volume is already used by 2 pod(s) in different namespaces"},
	}
	for _, tc := range cases {
		assert.Equal(t, tc.want, usedBy(tc.users, "mine"))
	}
}
