package realcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
)

// made is an object that this run has created.
type made struct {
	resource        schema.GroupVersionResource
	namespace, name string
	ofDriver        bool // the object belongs to a driver's own manifests
	ending          bool // it is being deleted
}

func (m made) String() string { return m.resource.Resource + "/" + m.name }

const manager = "csisim"

// DefineCSIAddons is not possible: the controllers would be missing.
func (c *Cluster) DefineCSIAddons() error {
	return errors.New("CSI-Addons is not deployed on real clusters")
}

// Apply creates an object, or changes the fields that an earlier Apply has set.
func (c *Cluster) Apply(obj store.Object) (verb string, err error) {
	res, err := store.ResourceOf(obj)
	if err != nil {
		return "", err
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return "", err
	}
	u := &unstructured.Unstructured{Object: fields}
	u.SetGroupVersionKind(res.GVK)
	if res.Namespaced && u.GetNamespace() == "" {
		u.SetNamespace(metav1.NamespaceDefault)
	}
	c.rename(res, u)
	verb, applied, err := c.applyAt(res.GVR, u)
	if err != nil {
		return "", err
	}
	if verb == "created" {
		c.made = append(c.made, made{resource: res.GVR, namespace: applied.GetNamespace(), name: applied.GetName()})
	}
	c.unseen = append(c.unseen, written{res, applied})
	return verb, nil
}

// written is an object as the API has returned it.
type written struct {
	resource *store.Resource
	object   *unstructured.Unstructured
}

// Applied waits until the mirror has the applied objects. Within one step, objects are applied
// without this wait, as by kubectl.
func (c *Cluster) Applied() error {
	for _, w := range c.unseen {
		if err := c.await(w.resource, w.object); err != nil {
			return err
		}
	}
	c.unseen = nil
	return nil
}

// applyAt applies an object with csisim's label.
func (c *Cluster) applyAt(gvr schema.GroupVersionResource, u *unstructured.Unstructured) (verb string, applied *unstructured.Unstructured, err error) {
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[deploy.ManagedBy] = deploy.By
	u.SetLabels(labels)
	if gvr.Resource == "csidrivers" {
		c.withLabels(u)
	}
	if labels[deploy.DriverLabel] == "" {
		labelClaims(u.Object)
	}
	delete(u.Object, "status")
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	client := c.at(gvr, u.GetNamespace())
	if u.GetName() == "" {
		applied, err = client.Create(c.ctx, u, metav1.CreateOptions{FieldManager: manager})
		return "created", applied, err
	}
	before, err := client.Get(c.ctx, u.GetName(), metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return "", nil, err
	}
	exists := err == nil
	applied, err = client.Apply(c.ctx, u.GetName(), u, metav1.ApplyOptions{FieldManager: manager, Force: true})
	switch {
	case err != nil:
		return "", nil, err
	case !exists:
		return "created", applied, nil
	case before.GetResourceVersion() == applied.GetResourceVersion():
		return "unchanged", applied, nil
	}
	return "configured", applied, nil
}

func (c *Cluster) at(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return c.dynamic.Resource(gvr)
	}
	return c.dynamic.Resource(gvr).Namespace(namespace)
}

// await waits until the mirror has a write, so that the next step also has it.
func (c *Cluster) await(res *store.Resource, written *unstructured.Unstructured) error {
	key := c.plainKey(store.Key{Name: written.GetName(), Namespace: written.GetNamespace()})
	version := written.GetResourceVersion()
	return c.WaitFor(fmt.Sprintf("%s %s to be seen", res, key.Name), 10*time.Second, func() bool {
		_, there := c.world.Store.GetObject(res, key)
		known := c.mirror.versions[written.GetUID()]
		return !mirrors(res) || known == version || there && len(known) >= len(version) && known > version || !there && written.GetDeletionTimestamp() != nil
	})
}

func mirrors(res *store.Resource) bool {
	for _, name := range mirrored {
		if name == res.GVR.Resource {
			return true
		}
	}
	return false
}

// Delete requests an object's deletion.
func (c *Cluster) Delete(res *store.Resource, key store.Key, grace *int64) error {
	policy := metav1.DeletePropagationBackground
	key = c.keyOf(res, key)
	return c.at(res.GVR, key.Namespace).Delete(c.ctx, key.Name, metav1.DeleteOptions{GracePeriodSeconds: grace, PropagationPolicy: &policy})
}

// Modify changes an object with a merge patch.
func (c *Cluster) Modify(res *store.Resource, key store.Key, subresource string, change func(store.Object) error) error {
	key = c.keyOf(res, key)
	if res.GVR.Resource == "nodes" && subresource == "" {
		return c.modifyNode(res, key.Name, change)
	}
	client := c.at(res.GVR, key.Namespace)
	u, err := client.Get(c.ctx, key.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	c.options.Deploy.Scope.PlainFields(u.Object)
	object := res.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if err := change(object); err != nil {
		return err
	}
	after, err := json.Marshal(object)
	if err != nil {
		return err
	}
	patch, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return err
	}
	if patch, err = c.scoped(patch); err != nil {
		return err
	}
	var sub []string
	if subresource != "" {
		sub = []string{subresource}
	}
	written, err := client.Patch(c.ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: manager}, sub...)
	if err != nil {
		return err
	}
	return c.await(res, written)
}

// modifyNode changes a node until the end of the run.
func (c *Cluster) modifyNode(res *store.Resource, name string, change func(store.Object) error) error {
	changed, err := c.changeNode(c.ctx, name, func(n *corev1.Node) error { return change(n) })
	if err != nil {
		return err
	}
	written := &unstructured.Unstructured{}
	written.SetName(changed.Name)
	written.SetUID(changed.UID)
	written.SetResourceVersion(changed.ResourceVersion)
	return c.await(res, written)
}
