package sidecars

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// resources is a client of objects of any kind.
type resources struct {
	dynamic.Interface
	meta.RESTMapper
}

func (c *cluster) anyKind() resources {
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(c, err)
	return resources{dynamic.NewForConfigOrDie(config), restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.Discovery()))}
}

// named returns a client of a kind, by the kind's name. Without a namespace it covers all
// namespaces.
func (r resources) named(kind, namespace string) (dynamic.ResourceInterface, error) {
	at, err := r.ResourceFor(schema.GroupVersionResource{Resource: strings.ToLower(kind)})
	if err != nil {
		return nil, err
	}
	return r.Resource(at).Namespace(namespace), nil
}

// make creates objects. Objects without a namespace are created in default.
func (c *cluster) make(text string) {
	kinds := c.anyKind()
	for document := range strings.SplitSeq(text, "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(c, yaml.Unmarshal([]byte(document), &object.Object))
		if len(object.Object) == 0 {
			continue // only a comment
		}
		kind := object.GroupVersionKind()
		mapping, err := kinds.RESTMapping(kind.GroupKind(), kind.Version)
		require.NoError(c, err)
		if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
		_, err = kinds.Resource(mapping.Resource).Namespace(object.GetNamespace()).Create(c.Context(), object, metav1.CreateOptions{})
		require.NoError(c, err, document)
	}
}

// find returns the objects of a kind with names that begin with a prefix.
func (c *cluster) find(ctx context.Context, kind, namespace, prefix string) (found []unstructured.Unstructured, err error) {
	client, err := c.anyKind().named(kind, namespace)
	if err != nil {
		return nil, err
	}
	all, err := client.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, object := range all.Items {
		if strings.HasPrefix(object.GetName(), prefix) {
			found = append(found, object)
		}
	}
	return found, nil
}

// awaitObject waits until one of these objects has a text in a field.
func (c *cluster) awaitObject(kind, namespace, prefix, want string, field ...string) {
	c.Helper()
	c.await(fmt.Sprintf("%s %s: %s %s", kind, prefix, strings.Join(field, "."), want), func(ctx context.Context) (bool, error) {
		found, err := c.find(ctx, kind, namespace, prefix)
		var seen []any
		for _, object := range found {
			if text, _, _ := unstructured.NestedString(object.Object, field...); text == want {
				return true, nil
			}
			seen = append(seen, object.Object["status"])
		}
		if err == nil {
			err = fmt.Errorf("they are %v", seen)
		}
		return false, err
	})
}

func (c *cluster) awaitGone(kind, namespace, prefix string) {
	c.Helper()
	c.await(fmt.Sprintf("the end of %s %s", kind, prefix), func(ctx context.Context) (bool, error) {
		found, err := c.find(ctx, kind, namespace, prefix)
		return len(found) == 0, err
	})
}

// change merges a patch into an object.
func (c *cluster) change(kind, namespace, name, patch string) {
	c.Helper()
	client, err := c.anyKind().named(kind, namespace)
	require.NoError(c, err)
	text, err := yaml.YAMLToJSON([]byte(patch))
	require.NoError(c, err)
	_, err = client.Patch(c.Context(), name, types.MergePatchType, text, metav1.PatchOptions{})
	require.NoError(c, err)
}

// remove deletes an object and waits for the deletion.
func (c *cluster) remove(kind, namespace, name string) {
	c.Helper()
	client, err := c.anyKind().named(kind, namespace)
	require.NoError(c, err)
	require.NoError(c, client.Delete(c.Context(), name, metav1.DeleteOptions{}))
	c.awaitGone(kind, namespace, name)
}
