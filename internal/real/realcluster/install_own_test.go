package realcluster

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/csisim/csisim/internal/real/deploy"
)

var diskSystem = made{resource: schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, name: "disk-system"}

// withNamespace returns a cluster that answers each Get with the next of these namespaces, then
// with NotFound.
func withNamespace(t *testing.T, answers ...map[string]any) (c *Cluster, asked *int) {
	t.Helper()
	objects := fake.NewSimpleDynamicClient(runtime.NewScheme())
	asked = new(int)
	objects.PrependReactor("get", "namespaces", func(clienttesting.Action) (bool, runtime.Object, error) {
		if *asked++; *asked > len(answers) {
			return false, nil, nil
		}
		return true, &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": answers[*asked-1]}}, nil
	})
	c = &Cluster{dynamic: objects}
	c.ctx, c.end = context.WithCancelCause(t.Context())
	return c, asked
}

// An object that an earlier run is deleting is not applied yet, because the new object would also
// be deleted.
func TestTheDeletionOfAnEarlierRunIsAwaited(t *testing.T) {
	own := map[string]any{deploy.ManagedBy: deploy.By}
	leaves := map[string]any{"name": "disk-system", "labels": own, "deletionTimestamp": "2026-01-01T00:00:00Z"}
	c, asked := withNamespace(t, leaves, leaves, leaves)
	assert.NoError(t, c.foreign(deploy.Driver{Name: "disk"}, diskSystem))
	assert.Equal(t, 4, *asked)

	c, asked = withNamespace(t, map[string]any{"name": "disk-system", "labels": own})
	assert.NoError(t, c.foreign(deploy.Driver{Name: "disk"}, diskSystem))
	assert.Equal(t, 1, *asked)

	c, _ = withNamespace(t, map[string]any{"name": "disk-system", "deletionTimestamp": "2026-01-01T00:00:00Z"})
	assert.ErrorContains(t, c.foreign(deploy.Driver{Name: "disk"}, diskSystem), "namespaces/disk-system already, which csisim did not make")
}
