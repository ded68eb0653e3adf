package namespace_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/namespace"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// A namespace is removed after all its objects, and not before.
func TestANamespaceIsDeletedAfterItsContent(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	s := c.Store
	namespace.Start(c.World)
	_, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
	require.NoError(t, err)
	for name, finalizers := range map[string][]string{"free": nil, "held": {"example.com/hold"}} {
		_, err := store.Create(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: name, Finalizers: finalizers}})
		require.NoError(t, err)
	}
	key := store.Key{Name: "leaving"}
	_, err = store.Delete[*corev1.Namespace](s, key)
	require.NoError(t, err)
	c.At(30 * time.Second)
	_, found := store.Get[*corev1.ConfigMap](s, store.Key{Namespace: "leaving", Name: "free"})
	assert.False(t, found)
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.True(t, found, "something holds an object in it")

	_, err = store.Modify(s, store.Key{Namespace: "leaving", Name: "held"}, func(c *corev1.ConfigMap) { c.Finalizers = nil })
	require.NoError(t, err)
	c.At(time.Minute)
	_, found = store.Get[*corev1.Namespace](s, key)
	assert.False(t, found)
}

// C-NS-2: conditions report the remaining objects, in the words of the real controller.
// [pkg/controller/namespace/deletion/status_condition_utils.go]
func TestConditionsListTheRemainingContent(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	s := c.Store
	namespace.Start(c.World)
	_, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
	require.NoError(t, err)
	for _, name := range []string{"a", "b"} {
		_, err := store.Create(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: name, Finalizers: []string{"example.com/hold"}}})
		require.NoError(t, err)
	}
	key := store.Key{Name: "leaving"}
	_, err = store.Delete[*corev1.Namespace](s, key)
	require.NoError(t, err)
	conditions := func(at time.Duration) (said []string) {
		c.At(at)
		n, _ := store.Get[*corev1.Namespace](s, key)
		for _, condition := range n.Status.Conditions {
			said = append(said, string(condition.Status)+" "+condition.Reason+": "+condition.Message)
		}
		return said
	}
	assert.Empty(t, conditions(4*time.Second), "the controller waits 5 s")
	assert.Equal(t, []string{
		"False ResourcesDiscovered: All resources successfully discovered",
		"False ParsedGroupVersions: All legacy kube types successfully parsed",
		"False ContentDeleted: All content successfully deleted, may be waiting on finalization",
		"True SomeResourcesRemain: Some resources are remaining: configmaps. has 2 resource instances",
		"True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances",
	}, conditions(6*time.Second))
}

// C-NS-2: since v1.33, all pods are deleted before objects of other kinds.
func TestPodsAreDeletedBeforeTheirVolumes(t *testing.T) {
	for _, try := range []struct {
		version string
		there   bool
	}{{"1.32", false}, {"1.33", true}} {
		c := testcluster.NewAPI(t, nil)
		var err error
		c.Version, err = version.Parse(try.version)
		require.NoError(t, err)
		namespace.Start(c.World)
		_, err = store.Create(c.Store, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
		require.NoError(t, err)
		_, err = store.Create(c.Store, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: "used"}})
		require.NoError(t, err)
		_, err = store.Create(c.Store, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "leaving", Name: "p"},
			Spec:       corev1.PodSpec{NodeName: "a", Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		})
		require.NoError(t, err)
		_, err = store.Delete[*corev1.Namespace](c.Store, store.Key{Name: "leaving"})
		require.NoError(t, err)
		c.At(20 * time.Second)
		_, there := store.Get[*corev1.ConfigMap](c.Store, store.Key{Namespace: "leaving", Name: "used"})
		assert.Equal(t, try.there, there, try.version)
	}
}
