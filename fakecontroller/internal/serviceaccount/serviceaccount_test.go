package serviceaccount_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/serviceaccount"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// Every active namespace has its account: initial namespaces, new ones, and namespaces with a
// deleted account.
func TestEveryNamespaceHasAnAccount(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	s := c.Store
	serviceaccount.Start(c.World)
	serviceaccount.StartInitial(c.World)
	namespace := func(name string, finalizers ...string) {
		_, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}})
		require.NoError(t, err)
	}
	account := func(namespace string) bool {
		_, found := store.Get[*corev1.ServiceAccount](s, store.Key{Namespace: namespace, Name: "default"})
		return found
	}
	namespace("new")
	namespace("leaving", "example.com/hold")
	_, err := store.Delete[*corev1.Namespace](s, store.Key{Name: "leaving"})
	require.NoError(t, err)

	c.Run(time.Second)
	for name, has := range map[string]bool{"default": true, "kube-system": true, "new": true, "leaving": false} {
		assert.Equal(t, has, account(name), name)
	}

	_, err = store.Delete[*corev1.ServiceAccount](s, store.Key{Namespace: "new", Name: "default"})
	require.NoError(t, err)
	c.Run(time.Second)
	assert.True(t, account("new"), "it is made again")
}
