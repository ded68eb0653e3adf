package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// drain removes all events and returns them as "TYPE name".
func drain[T store.Object](w *store.Watcher[T]) (told []string) {
	for event, ok := w.Next(); ok; event, ok = w.Next() {
		told = append(told, fmt.Sprintf("%s %s", event.Type, event.Object.GetName()))
	}
	return told
}

func TestAWatchBeginsWithTheListAndFollowsCommits(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Secret("b"))
	kindtest.Create(t, s, kindtest.Secret("a"))
	view := s.NewView("controller")
	w := store.Watch[*corev1.Secret](view)
	woken := 0
	w.OnEvent(func() { woken++ })

	kindtest.Create(t, s, kindtest.Secret("c"))
	kindtest.Create(t, s, kindtest.Pod("p"))
	kindtest.Modify(t, s, kindtest.InDefault("a"), func(o *corev1.Secret) { kindtest.Label(o) })
	last := kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("b"))

	assert.Equal(t, 3, woken)
	assert.Zero(t, w.Bookmark(), "the list is not yet handed out")
	var final *corev1.Secret
	var told []string
	for event, ok := w.Next(); ok; event, ok = w.Next() {
		told = append(told, string(event.Type)+" "+event.Object.Name)
		final = event.Object
	}
	assert.Equal(t, []string{"ADDED a", "ADDED b", "ADDED c", "MODIFIED a", "DELETED b"}, told)
	assert.Equal(t, last.ResourceVersion, final.ResourceVersion)
	assert.Equal(t, s.Revision(), w.Bookmark())
}

func TestAnIndexWatchSeesObjectsEnterAndLeave(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &corev1.Node{ObjectMeta: kindtest.Named("a")})
	kindtest.Create(t, s, kindtest.Pod("p"))
	w := store.Watch[*corev1.PersistentVolume](s.NewView("binder"), store.ByIndex(kind.UnboundVolumesByClass, "fast"))
	onA := store.Watch[*corev1.Pod](s.NewView("kubelet"), store.ByIndex(kind.PodsByNode, "a"))
	require.Empty(t, drain(onA))

	_, err := kind.BindPod(s, kind.Binding{Pod: kindtest.InDefault("p"), Node: "a"})
	require.NoError(t, err)
	pv := kindtest.Volume("v")
	pv.Spec.StorageClassName = "fast"
	kindtest.Create(t, s, pv)
	kindtest.Modify(t, s, kindtest.OfCluster("v"), func(pv *corev1.PersistentVolume) { pv.Spec.Capacity = kindtest.Storage("2Gi") })
	kindtest.Modify(t, s, kindtest.OfCluster("v"), func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = &corev1.ObjectReference{Name: "c"} })
	kindtest.Modify(t, s, kindtest.OfCluster("v"), func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil })

	assert.Equal(t, []string{"ADDED p"}, drain(onA), "a pod enters the kubelet's watch when it is bound")
	assert.Equal(t, []string{"ADDED v", "MODIFIED v", "DELETED v", "ADDED v"}, drain(w))
}

func TestALaggingViewReadsThePastUntilDelivery(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view := s.NewView("controller")
	w := store.Watch[*corev1.Secret](view)
	queued := 0
	view.SetLag(func() { queued++ })

	kindtest.Create(t, s, kindtest.Secret("a"))
	kindtest.Create(t, s, kindtest.Pod("p"))
	kindtest.Create(t, s, kindtest.Secret("b"))

	require.Equal(t, 1, queued, "told once")
	require.Equal(t, 2, view.Pending())
	require.Equal(t, uint64(2), view.Revision())
	_, ok := store.Get[*corev1.Secret](view, kindtest.InDefault("a"))
	require.False(t, ok)
	require.Empty(t, drain(w))

	view.Deliver(1)
	_, ok = store.Get[*corev1.Secret](view, kindtest.InDefault("a"))
	assert.True(t, ok)
	_, ok = store.Get[*corev1.Secret](view, kindtest.InDefault("b"))
	assert.False(t, ok)
	assert.Equal(t, []string{"ADDED a"}, drain(w))

	view.Deliver(5)
	assert.Equal(t, []string{"ADDED b"}, drain(w))
	assert.Equal(t, s.Revision(), view.Revision())
	assert.Zero(t, view.Pending())
}

func TestAWatchOpenedOnALaggingViewMissesNothing(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view := s.NewView("controller")
	store.Watch[*corev1.Secret](view)
	view.SetLag(func() {})
	kindtest.Create(t, s, kindtest.Secret("a"))
	kindtest.Create(t, s, kindtest.Pod("p"))
	kindtest.Create(t, s, kindtest.Secret("b"))

	late := store.Watch[*corev1.Pod](view)
	require.Empty(t, drain(late), "the view does not yet know the pod")
	require.Equal(t, 3, view.Pending())
	view.Deliver(2)
	assert.Equal(t, []string{"ADDED p"}, drain(late))
}

func TestAClosedViewForgetsAndReadsTheHead(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view := s.NewView("controller")
	w := store.Watch[*corev1.Secret](view)
	view.SetLag(func() {})
	kindtest.Create(t, s, kindtest.Secret("a"))

	view.Close()

	assert.Zero(t, view.Pending())
	assert.Equal(t, s.Revision(), view.Revision())
	kindtest.Create(t, s, kindtest.Secret("b"))
	assert.Zero(t, view.Pending(), "the watches of the old life are closed")
	assert.Empty(t, drain(w))
	assert.Equal(t, []string{"ADDED a", "ADDED b"}, drain(store.Watch[*corev1.Secret](view)))
}

// cache is built from the events of a watch.
type cache struct {
	view *store.View
	w    *store.Watcher[*corev1.Pod]
	node string
	pods map[string]string // name to resource version
	last uint64
}

func (c *cache) follow() {
	for event, ok := c.w.Next(); ok; event, ok = c.w.Next() {
		if event.Type == store.Deleted {
			delete(c.pods, event.Object.Name)
		} else {
			c.pods[event.Object.Name] = event.Object.ResourceVersion
		}
	}
}

// shown returns the reader's list of the same objects.
func shown(r store.Reader, node string) map[string]string {
	pods := map[string]string{}
	all := store.List[*corev1.Pod](r, "")
	if node != "" {
		all = store.Indexed[*corev1.Pod](r, kind.PodsByNode, node)
	}
	for p := range all {
		pods[p.Name] = p.ResourceVersion
	}
	return pods
}

// act makes one random write.
func act(t *rapid.T, s *store.Store) {
	name := rapid.SampledFrom([]string{"p", "q", "r", "s"}).Draw(t, "pod")
	node := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node")
	switch rapid.SampledFrom([]string{"create", "bind", "touch", "delete", "other"}).Draw(t, "write") {
	case "create":
		_, _ = store.Create(s, kindtest.Pod(name))
	case "bind":
		_, _ = kind.BindPod(s, kind.Binding{Pod: kindtest.InDefault(name), Node: node})
	case "touch":
		_, _ = store.ModifyStatus(s, kindtest.InDefault(name), func(p *corev1.Pod) { p.Status.Message += "." })
	case "delete":
		_, _ = store.Delete[*corev1.Pod](s, kindtest.InDefault(name), store.GracePeriod(0))
	case "other":
		_, _ = store.Create(s, kindtest.Secret(name))
	}
}

func TestViewsAreMonotoneAndConverge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := kind.NewStore(store.Options{})
		var caches []*cache
		for _, node := range []string{"", "a", "b", "a"} {
			c := &cache{view: s.NewView(node), node: node, pods: map[string]string{}}
			c.w = store.Watch[*corev1.Pod](c.view, selectors(node)...)
			if rapid.Bool().Draw(t, "lags") {
				c.view.SetLag(func() {})
			}
			caches = append(caches, c)
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			act(t, s)
			c := rapid.SampledFrom(caches).Draw(t, "view")
			c.view.Deliver(rapid.IntRange(0, 2).Draw(t, "commits"))
			for _, c := range caches {
				c.follow()
				require.GreaterOrEqual(t, c.view.Revision(), c.last, "a view never goes back")
				c.last = c.view.Revision()
				require.Equal(t, shown(c.view, c.node), c.pods, "events and reads agree")
			}
		}
		for _, c := range caches {
			c.view.Deliver(c.view.Pending())
			c.follow()
			require.Equal(t, s.Revision(), c.view.Revision())
			require.Equal(t, shown(s, c.node), c.pods)
		}
	})
}

func selectors(node string) []store.Selector {
	if node == "" {
		return nil
	}
	return []store.Selector{store.ByIndex(kind.PodsByNode, node)}
}

func TestSnapshotsAreIsolated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := kind.NewStore(store.Options{History: 5, Guard: true})
		states := map[uint64][3]map[string]string{}
		ask := func(r store.Reader) [3]map[string]string {
			return [3]map[string]string{shown(r, ""), shown(r, "a"), shown(r, "b")}
		}
		snapshots := []*store.Snapshot{s.Snapshot()}
		states[s.Revision()] = ask(s)
		s.OnCommit(func(c store.Commit) {
			require.Equal(t, c.Revision, s.Revision())
			snapshots = append(snapshots, s.Snapshot())
			states[c.Revision] = ask(s)
		})
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			act(t, s)
		}
		for _, snapshot := range snapshots {
			require.Equal(t, states[snapshot.Revision()], ask(snapshot))
		}
		for _, revision := range slices.Sorted(maps.Keys(states)) {
			past, err := s.At(revision)
			if revision+5 < s.Revision() {
				require.ErrorContains(t, err, "no longer kept")
				continue
			}
			require.NoError(t, err)
			require.Equal(t, revision, past.Revision())
			require.Equal(t, states[revision], ask(past))
		}
		require.NoError(t, s.VerifyImmutable())
	})
}

// However far a view lags, it returns the same objects, lists and index lookups as a snapshot of
// its revision.
func TestALaggingViewEqualsASnapshotOfItsRevision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := kind.NewStore(store.Options{})
		view := s.NewView("controller")
		store.Watch[*corev1.Pod](view)
		view.SetLag(func() {})
		ask := func(r store.Reader) (all []string) {
			for p := range store.List[*corev1.Pod](r, "") {
				all = append(all, p.Name+" "+p.ResourceVersion)
			}
			for _, node := range []string{"a", "b"} {
				for p := range store.Indexed[*corev1.Pod](r, kind.PodsByNode, node) {
					all = append(all, node+" "+p.Name+" "+p.ResourceVersion)
				}
			}
			for _, name := range []string{"p", "q", "r", "s"} {
				if p, ok := store.Get[*corev1.Pod](r, kindtest.InDefault(name)); ok {
					all = append(all, p.Name+" "+p.ResourceVersion)
				}
			}
			return append(all, fmt.Sprint(len(slices.Collect(store.List[*corev1.Secret](r, "default")))))
		}
		states := map[uint64][]string{s.Revision(): ask(s)}
		s.OnCommit(func(c store.Commit) { states[c.Revision] = ask(s) })
		for range rapid.IntRange(1, 90).Draw(t, "steps") {
			act(t, s)
			view.Deliver(rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "commits"))
			require.Equal(t, states[view.Revision()], ask(view))
		}
	})
}
