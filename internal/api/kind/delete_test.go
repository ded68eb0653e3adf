package kind_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// history records the commits of a store as "created", "modified", "removed".
func history(s *store.Store) *[]string {
	var all []string
	s.OnCommit(func(c store.Commit) {
		switch {
		case c.Old == nil:
			all = append(all, "created")
		case c.New == nil:
			all = append(all, "removed")
		default:
			all = append(all, "modified")
		}
	})
	return &all
}

func TestDeleteWithoutFinalizersRemoves(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Secret("x"))
	commits := history(s)

	last := kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("x"))

	assert.Equal(t, []string{"removed"}, *commits)
	assert.Equal(t, "4", last.ResourceVersion, "the last state carries the revision of its end")
	_, err := store.Delete[*corev1.Secret](s, kindtest.InDefault("x"))
	assert.Equal(t, store.NotFound[*corev1.Secret](kindtest.InDefault("x")), err)
}

func TestFinalizersHoldADeletion(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Volume("x"))
	commits := history(s)

	held := kindtest.Remove[*corev1.PersistentVolume](t, s, kindtest.OfCluster("x"))
	require.Equal(t, store.Epoch, held.DeletionTimestamp.Time)
	require.Equal(t, int64(0), *held.DeletionGracePeriodSeconds)
	again := kindtest.Remove[*corev1.PersistentVolume](t, s, kindtest.OfCluster("x"))
	require.Same(t, held, again, "a second deletion changes nothing")

	_, err := store.Modify(s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) {
		pv.Finalizers = append(pv.Finalizers, "example.com/late")
	})
	require.True(t, apierrors.IsInvalid(err))
	assert.ErrorContains(t, err, `metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/late"}`)

	last := kindtest.Modify(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
	assert.Equal(t, held.ResourceVersion, last.ResourceVersion)
	assert.Equal(t, []string{"modified", "removed"}, *commits, "the last finalizer and the object go in one commit")
}

func TestDeletePreconditions(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Secret("x"))
	for name, opt := range map[string]store.DeleteOption{
		"uid":      store.PreconditionUID("other"),
		"revision": store.PreconditionVersion("1"),
	} {
		_, err := store.Delete[*corev1.Secret](s, kindtest.InDefault("x"), opt)
		assert.True(t, apierrors.IsConflict(err), name)
	}
	_, err := store.Delete[*corev1.Secret](s, kindtest.InDefault("x"), store.Propagation("Sideways"))
	assert.True(t, apierrors.IsInvalid(err))
}

func TestPropagationLeavesAFinalizerForTheCollector(t *testing.T) {
	for policy, finalizer := range map[metav1.DeletionPropagation]string{
		metav1.DeletePropagationForeground: metav1.FinalizerDeleteDependents,
		metav1.DeletePropagationOrphan:     metav1.FinalizerOrphanDependents,
	} {
		s := kind.NewStore(store.Options{})
		kindtest.Create(t, s, kindtest.Secret("x"))
		held := kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("x"), store.Propagation(policy))
		assert.Equal(t, []string{finalizer}, held.Finalizers)
		assert.NotNil(t, held.DeletionTimestamp)
	}
}

// The traces lifecycle-stub and force-delete-mounted show these commits.
func TestPodsAreDeletedGracefully(t *testing.T) {
	grace := func(n int64) []store.DeleteOption { return []store.DeleteOption{store.GracePeriod(n)} }
	for rule, c := range map[string]struct {
		pod     *corev1.Pod
		phase   corev1.PodPhase
		opts    []store.DeleteOption
		commits []string
		seconds int64
	}{
		"a pod on no node goes at once":     {kindtest.Pod("p"), "", nil, []string{"modified", "removed"}, 0},
		"a running pod gets its grace":      {kindtest.Pod("p", kindtest.OnNode("a")), "", nil, []string{"modified"}, 30},
		"the client's grace overrides":      {kindtest.Pod("p", kindtest.OnNode("a")), "", grace(10), []string{"modified"}, 10},
		"negative grace is one second":      {kindtest.Pod("p", kindtest.OnNode("a")), "", grace(-5), []string{"modified"}, 1},
		"force: two commits":                {kindtest.Pod("p", kindtest.OnNode("a")), "", grace(0), []string{"modified", "removed"}, 0},
		"a pod that succeeded goes at once": {kindtest.Pod("p", kindtest.OnNode("a")), corev1.PodSucceeded, nil, []string{"modified", "removed"}, 0},
		"a pod that failed goes at once":    {kindtest.Pod("p", kindtest.OnNode("a")), corev1.PodFailed, nil, []string{"modified", "removed"}, 0},
	} {
		t.Run(rule, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			kindtest.Create(t, s, c.pod)
			kindtest.ModifyStatus(t, s, kindtest.InDefault("p"), func(p *corev1.Pod) { p.Status.Phase = c.phase })
			commits := history(s)

			last := kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"), c.opts...)

			assert.Equal(t, c.commits, *commits)
			assert.Equal(t, c.seconds, *last.DeletionGracePeriodSeconds)
			assert.Equal(t, store.Epoch.Add(time.Duration(c.seconds)*time.Second), last.DeletionTimestamp.Time)
			assert.Equal(t, int64(2), last.Generation)
		})
	}
}

func TestKubeletEndsAGracefulDeletion(t *testing.T) {
	now := store.Epoch
	s := kind.NewStore(store.Options{Now: func() time.Time { return now }})
	p := kindtest.Create(t, s, kindtest.Pod("p", kindtest.OnNode("a")))
	kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"))
	now = now.Add(3 * time.Second)
	commits := history(s)

	longer := kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"), store.GracePeriod(60))
	require.Equal(t, int64(30), *longer.DeletionGracePeriodSeconds, "grace can only be shortened")
	require.Empty(t, *commits)

	last := kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"), store.GracePeriod(0), store.PreconditionUID(p.UID))
	assert.Equal(t, []string{"modified", "removed"}, *commits)
	assert.Equal(t, store.Epoch, last.DeletionTimestamp.Time, "the time of the deletion less its grace")
}

func TestAFinalizerOutlivesTheGrace(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Pod("p", kindtest.OnNode("a"), func(p *corev1.Pod) { p.Finalizers = []string{"example.com/hold"} }))
	held := kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"), store.GracePeriod(0))
	require.NotEmpty(t, held.Finalizers)
	kindtest.Modify(t, s, kindtest.InDefault("p"), func(p *corev1.Pod) { p.Finalizers = nil })
	_, ok := store.Get[*corev1.Pod](s, kindtest.InDefault("p"))
	assert.False(t, ok)
}
