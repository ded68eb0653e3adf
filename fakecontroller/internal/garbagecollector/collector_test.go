package garbagecollector

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// world is an API with ConfigMaps that own each other, and a garbage collector.
type world struct{ *testcluster.API }

func newWorld(t *testing.T) *world {
	w := &world{testcluster.NewAPI(t, nil)}
	Start(w.World)
	return w
}

func (w *world) make(name string, owners ...metav1.OwnerReference) metav1.OwnerReference {
	made, err := store.Create(w.Store, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: owners}})
	require.NoError(w.T, err)
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: made.UID}
}

func (w *world) delete(name string, policy metav1.DeletionPropagation) {
	_, err := store.Delete[*corev1.ConfigMap](w.Store, store.Key{Namespace: "default", Name: name}, store.Propagation(policy))
	require.NoError(w.T, err)
}

// left returns the names of the existing ConfigMaps.
func (w *world) left() []string {
	names := []string{}
	for m := range store.List[*corev1.ConfigMap](w.Store, "default") {
		names = append(names, m.Name)
	}
	return names
}

func blocking(ref metav1.OwnerReference) metav1.OwnerReference {
	yes := true
	ref.BlockOwnerDeletion = &yes
	return ref
}

func TestDependentsGoWithTheirLastOwner(t *testing.T) {
	w := newWorld(t)
	a, b := w.make("a"), w.make("b")
	child := w.make("child", a, b)
	w.make("grandchild", child)
	w.Run(time.Second)
	w.delete("a", metav1.DeletePropagationBackground)
	w.Run(time.Second)
	assert.Equal(t, []string{"b", "child", "grandchild"}, w.left())
	obj, _ := store.Get[*corev1.ConfigMap](w.Store, store.Key{Namespace: "default", Name: "child"})
	assert.Equal(t, []metav1.OwnerReference{b}, obj.OwnerReferences, "the dangling reference is taken off")
	w.delete("b", metav1.DeletePropagationBackground)
	w.Run(time.Second)
	assert.Empty(t, w.left())
}

func TestObjectOfAnOwnerThatNeverWasIsDeleted(t *testing.T) {
	w := newWorld(t)
	owner := w.make("owner")
	owner.UID = types.UID("an-older-one")
	w.make("child", owner)
	unknown := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Thing", Name: "t", UID: "u"}
	w.make("kept", unknown)
	w.Run(time.Second)
	assert.Equal(t, []string{"kept", "owner"}, w.left())
}

func TestForegroundDeletionWaitsForDependentsThatBlock(t *testing.T) {
	w := newWorld(t)
	owner := w.make("owner")
	w.make("child", blocking(owner))
	_, err := store.Modify(w.Store, store.Key{Namespace: "default", Name: "child"}, func(m *corev1.ConfigMap) { m.Finalizers = []string{"example.com/wait"} })
	require.NoError(t, err)
	w.Run(time.Second)
	w.delete("owner", metav1.DeletePropagationForeground)
	w.Run(time.Second)
	assert.Equal(t, []string{"child", "owner"}, w.left())
	_, err = store.Modify(w.Store, store.Key{Namespace: "default", Name: "child"}, func(m *corev1.ConfigMap) { m.Finalizers = nil })
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Empty(t, w.left())
}

func TestOrphanedDependentsStay(t *testing.T) {
	w := newWorld(t)
	owner := w.make("owner")
	w.make("child", owner)
	w.Run(time.Second)
	w.delete("owner", metav1.DeletePropagationOrphan)
	w.Run(time.Second)
	assert.Equal(t, []string{"child"}, w.left())
	obj, _ := store.Get[*corev1.ConfigMap](w.Store, store.Key{Namespace: "default", Name: "child"})
	assert.Empty(t, obj.OwnerReferences)
}

// Fact 59
func TestCSINodeIsDeletedWithItsNode(t *testing.T) {
	w := newWorld(t)
	node, err := store.Create(w.Store, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	require.NoError(t, err)
	_, err = store.Create(w.Store, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: node.UID}}}})
	require.NoError(t, err)
	w.Run(time.Second)
	_, err = store.Delete[*corev1.Node](w.Store, store.Key{Name: "n"})
	require.NoError(t, err)
	w.Run(time.Second)
	_, ok := store.Get[*storagev1.CSINode](w.Store, store.Key{Name: "n"})
	assert.False(t, ok)
}

// A starting collector finds dependents that were orphaned while no collector ran.
func TestCollectorStartedLateFindsOldOrphans(t *testing.T) {
	w := &world{testcluster.NewAPI(t, nil)}
	owner := w.make("owner")
	w.make("child", owner)
	w.delete("owner", metav1.DeletePropagationBackground)
	w.Run(time.Second)
	assert.Equal(t, []string{"child"}, w.left())
	Start(w.World)
	w.Run(time.Second)
	assert.Empty(t, w.left())
}
