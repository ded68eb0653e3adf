package realcluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	discovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"

	"github.com/csisim/csisim/internal/real/deploy"
)

// described returns a cluster with an API that has these kinds.
func described(t *testing.T, kinds ...metav1.APIResource) *Cluster {
	t.Helper()
	lists := []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: kinds}}
	api := &discovery.FakeDiscovery{Fake: &clienttesting.Fake{Resources: lists}}
	c := &Cluster{kinds: restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(api)), queue: newQueue()}
	c.mirror, c.calls = newMirror(c), newCallLog(c)
	c.ctx, c.end = context.WithCancelCause(t.Context())
	return c
}

func object(kind, namespace string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
	u.SetName("a")
	u.SetNamespace(namespace)
	return u
}

func TestTheNamespaceOfAnObjectThatIsApplied(t *testing.T) {
	c := described(t, metav1.APIResource{Name: "namespaces", Kind: "Namespace"}, metav1.APIResource{Name: "pods", Kind: "Pod", Namespaced: true})
	for _, test := range []struct{ kind, given, want string }{
		// As kubectl does.
		{"Pod", "", "default"}, {"Pod", "other", "other"}, {"Namespace", "", ""}, {"Namespace", "other", ""},
	} {
		u := object(test.kind, test.given)
		m, err := c.placed(u)
		require.NoError(t, err)
		assert.Equal(t, test.want, m.namespace, test)
		assert.Equal(t, test.want, u.GetNamespace(), test)
	}
}

// An interrupt during the wait for a kind that is never served returns the interrupt as the error.
func TestAnInterruptEndsTheWaitForAKind(t *testing.T) {
	c := described(t)
	interrupt := errors.New("interrupt")
	time.AfterFunc(time.Millisecond, func() { c.Interrupt(interrupt) })
	own, err := deploy.ReadOwn("../../../cmd/csisim/testdata/own/deploy/base", []string{"driver.yaml", "controller.yaml", "node.yaml"})
	require.NoError(t, err)
	assert.Equal(t, interrupt, c.installOwn(deploy.Driver{Name: "mock.csi.csisim.dev", Own: own}))
}
