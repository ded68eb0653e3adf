package store_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// lagging returns a lagging view with a watch that has delivered Secrets with these names.
func lagging(t *testing.T, s *store.Store, names ...string) (*store.View, *store.Watcher[*corev1.Secret]) {
	for _, name := range names {
		kindtest.Create(t, s, kindtest.Secret(name))
	}
	view := s.NewView("controller")
	w := store.Watch[*corev1.Secret](view)
	view.SetLag(func() {})
	drain(w)
	return view, w
}

// A state is kept only for views that have not reached it yet, and not for events in a watch's
// queue.
func TestDeliveredEventsKeepNoLaterState(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view, w := lagging(t, s, "a")
	var states []weak.Pointer[store.Snapshot]
	change := func() {
		kindtest.Modify(t, s, kindtest.InDefault("a"), func(o *corev1.Secret) { metav1.SetMetaDataLabel(&o.ObjectMeta, "revision", o.ResourceVersion) })
	}
	for range 400 {
		change()
		states = append(states, weak.Make(s.Snapshot()))
	}
	kept := func() (n int) {
		runtime.GC()
		for _, state := range states[:399] {
			if state.Value() != nil {
				n++
			}
		}
		return n
	}
	assert.Equal(t, 3, kept(), "one in 128, as long as the view has yet to see it")
	view.Deliver(400)
	change()
	view.Deliver(1)
	assert.Zero(t, kept())
	assert.Equal(t, 401, w.Len())
}

func TestARelistShowsTheDifferenceBetweenTwoStates(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view, w := lagging(t, s, "changed", "gone", "made-again", "same")

	kindtest.Create(t, s, kindtest.Secret("passing"))
	kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("passing"))
	kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("gone"))
	kindtest.Create(t, s, kindtest.Secret("new"))
	for range 3 {
		kindtest.Modify(t, s, kindtest.InDefault("changed"), func(o *corev1.Secret) { kindtest.Label(o) })
	}
	was, _ := store.Get[*corev1.Secret](view, kindtest.InDefault("made-again"))
	kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("made-again"))
	is := kindtest.Create(t, s, kindtest.Secret("made-again"))
	view.Relist()

	assert.Zero(t, view.Pending())
	assert.Equal(t, s.Revision(), view.Revision())
	var told []string
	for e, ok := w.Next(); ok; e, ok = w.Next() {
		told = append(told, string(e.Type)+" "+e.Object.Name)
		assert.Equal(t, e.Type == store.Deleted, e.FinalStateUnknown, e.Object.Name)
		if e.Object.Name == "made-again" {
			assert.Equal(t, was.UID, e.Old.UID)
			assert.Equal(t, is.UID, e.Object.UID)
		}
	}
	assert.Equal(t, []string{"MODIFIED changed", "MODIFIED made-again", "ADDED new", "DELETED gone"}, told)
}

func TestATombstoneHasTheLastKnownState(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view, w := lagging(t, s, "a")
	known, _ := store.Get[*corev1.Secret](view, kindtest.InDefault("a"))
	kindtest.Modify(t, s, kindtest.InDefault("a"), func(o *corev1.Secret) { kindtest.Label(o) })
	kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("a"))
	view.Relist()

	e, ok := w.Next()
	require.True(t, ok)
	assert.True(t, e.FinalStateUnknown)
	assert.Same(t, known, e.Object, "neither its last label nor the version of its end")
}

func TestAnObservedDeletionIsNoTombstone(t *testing.T) {
	s := kind.NewStore(store.Options{})
	view, w := lagging(t, s, "a")
	last := kindtest.Remove[*corev1.Secret](t, s, kindtest.InDefault("a"))
	view.Deliver(1)

	e, ok := w.Next()
	require.True(t, ok)
	assert.False(t, e.FinalStateUnknown)
	assert.Equal(t, last.ResourceVersion, e.Object.ResourceVersion)
}

func TestAnObjectThatLeavesTheSelectionUnobservedIsATombstone(t *testing.T) {
	s := kind.NewStore(store.Options{})
	pv := kindtest.Volume("v")
	pv.Spec.StorageClassName = "fast"
	kindtest.Create(t, s, pv)
	view := s.NewView("binder")
	w := store.Watch[*corev1.PersistentVolume](view, store.ByIndex(kind.UnboundVolumesByClass, "fast"))
	view.SetLag(func() {})
	drain(w)
	kindtest.Modify(t, s, kindtest.OfCluster("v"), func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = &corev1.ObjectReference{Name: "c"} })
	view.Relist()

	e, ok := w.Next()
	require.True(t, ok)
	assert.Equal(t, store.Deleted, e.Type)
	assert.True(t, e.FinalStateUnknown)
	assert.Nil(t, e.Object.Spec.ClaimRef)
}

func TestSyncListsHiddenObjects(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Secret("a"))
	view := s.NewView("kubelet")
	view.SetLag(func() {})
	store.Hold[*corev1.Secret](view)
	w := store.Watch[*corev1.Secret](view)
	pods := store.Watch[*corev1.Pod](view)
	woken := 0
	w.OnEvent(func() { woken++ })
	kindtest.Create(t, s, kindtest.Secret("b"))
	kindtest.Create(t, s, kindtest.Pod("p"))
	view.Deliver(view.Pending())

	assert.False(t, view.Synced())
	assert.Empty(t, drain(w))
	_, ok := store.Get[*corev1.Secret](view, kindtest.InDefault("a"))
	assert.False(t, ok)
	for range store.List[*corev1.Secret](view, "") {
		t.Error("the list has not come back")
	}
	assert.Equal(t, []string{"ADDED p"}, drain(pods), "another informer has synced")

	view.Sync()
	assert.True(t, view.Synced())
	assert.Equal(t, 1, woken)
	assert.Equal(t, []string{"ADDED a", "ADDED b"}, drain(w))
	kindtest.Create(t, s, kindtest.Secret("c"))
	view.Deliver(1)
	assert.Equal(t, []string{"ADDED c"}, drain(w))
}
