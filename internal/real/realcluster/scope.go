package realcluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
)

// namespace returns the namespace of the drivers.
func (c *Cluster) namespace() string {
	return cmp.Or(c.options.Deploy.Namespace, deploy.Namespace)
}

// accountTime bounds the time until a new namespace has the default service account.
const accountTime = time.Minute

// makeNamespace makes the namespace that replaces the default one, if the run uses scoped names.
// Pods need its service account.
func (c *Cluster) makeNamespace() error {
	if c.options.Deploy.Scope == "" {
		return nil
	}
	name := c.options.Deploy.Scope.Namespace(metav1.NamespaceDefault)
	space := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	u, m, err := c.prepared(space)
	if err == nil {
		_, _, err = c.applyAt(m.resource, u)
	}
	if err != nil {
		return environment(err, "make namespace %s", name)
	}
	c.own = append(c.own, m)
	var missing error
	err = c.WaitFor("the service account of namespace "+name, accountTime, func() bool {
		_, missing = c.clients.CoreV1().ServiceAccounts(name).Get(c.ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		return missing == nil || !apierrors.IsNotFound(missing)
	})
	return environment(errors.Join(err, missing), "prepare namespace %s", name)
}

// rename gives an object of the scenario, and its references, their names in the cluster.
func (c *Cluster) rename(res *store.Resource, u *unstructured.Unstructured) {
	if c.options.Deploy.Scope == "" {
		return
	}
	c.options.Deploy.Scope.Fields(u.Object, c.renamed())
	key := c.keyOf(res, store.Key{Name: u.GetName(), Namespace: u.GetNamespace()})
	u.SetName(key.Name)
	if key.Namespace != "" {
		u.SetNamespace(key.Namespace)
	}
}

// renamed returns the drivers with another name in the cluster than in the scenario. Programs, and
// drivers with their own manifests, keep their names.
func (c *Cluster) renamed() []string {
	return slices.DeleteFunc(c.Drivers(), func(name string) bool { return c.inCluster(name) == name })
}

// keyOf returns the key of an object in the cluster.
func (c *Cluster) keyOf(res *store.Resource, key store.Key) store.Key {
	s := c.options.Deploy.Scope
	switch resource := res.GVR.Resource; {
	case res.Namespaced:
		key.Namespace = s.Namespace(key.Namespace)
	case resource == "namespaces":
		key.Name = s.Namespace(key.Name)
	case resource == "csidrivers" && c.driver(key.Name).Name != "":
		key.Name = c.inCluster(key.Name)
	case resource == "persistentvolumes" && strings.HasPrefix(key.Name, "pvc-"), resource == "volumesnapshotcontents" && strings.HasPrefix(key.Name, "snapcontent-"), resource == "volumeattachments" && strings.HasPrefix(key.Name, "csi-"):
		// the cluster has made the name
	case key.Name != "" && slices.Contains(deploy.Renamable, resource):
		key.Name = s.Name(key.Name)
	}
	return key
}

// plainKey returns the scenario's key of an object.
func (c *Cluster) plainKey(key store.Key) store.Key {
	return store.Key{Name: c.options.Deploy.Scope.Plain(key.Name), Namespace: c.options.Deploy.Scope.Plain(key.Namespace)}
}

// scoped returns a merge patch with the objects' names in the cluster.
func (c *Cluster) scoped(patch []byte) ([]byte, error) {
	if c.options.Deploy.Scope == "" {
		return patch, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(patch, &fields); err != nil {
		return nil, err
	}
	c.options.Deploy.Scope.Fields(fields, c.renamed())
	return json.Marshal(fields)
}

// isForeign reports whether an object belongs to another run on a shared cluster.
func (c *Cluster) isForeign(res *store.Resource, u *unstructured.Unstructured) bool {
	if c.options.Deploy.Scope == "" {
		return false
	}
	field := func(path ...string) string { text, _, _ := unstructured.NestedString(u.Object, path...); return text }
	switch res.GVR.Resource {
	case "nodes", "csinodes":
		return false
	case "csidrivers":
		return c.driver(u.GetName()).Name != u.GetName()
	case "persistentvolumes":
		space := field("spec", "claimRef", "namespace")
		driver := field("spec", "csi", "driver") // a retained volume may have lost its claim
		return !c.options.Deploy.Scope.Has(u.GetName()) && !c.options.Deploy.Scope.Has(space) && !c.options.Deploy.Scope.Has(driver)
	case "volumeattachments":
		return c.driver(field("spec", "attacher")).Name != field("spec", "attacher")
	case "volumesnapshotcontents":
		return !c.options.Deploy.Scope.Has(u.GetName()) && !c.options.Deploy.Scope.Has(field("spec", "volumeSnapshotRef", "namespace"))
	case "volumeattributesclasses", "volumesnapshotclasses", "storageclasses":
		return !c.options.Deploy.Scope.Has(u.GetName())
	}
	return !c.options.Deploy.Scope.Has(u.GetNamespace())
}

// isForeignEvent reports whether an Event does not belong to the scenario. An event is foreign if
// it concerns an object of another run or a node outside the scenario (csisim stops the control
// plane's kubelet while a controller must stay down), or if kube-proxy sent it.
func (c *Cluster) isForeignEvent(u *unstructured.Unstructured) bool {
	field := func(name string) string {
		text, _, _ := unstructured.NestedString(u.Object, "involvedObject", name)
		return text
	}
	if field("kind") == "Node" {
		reporter, _, _ := unstructured.NestedString(u.Object, "reportingComponent")
		return !slices.Contains(c.options.Nodes, field("name")) || reporter == "kube-proxy"
	}
	if c.options.Deploy.Scope == "" {
		return false
	}
	if space := field("namespace"); space != "" {
		return !c.options.Deploy.Scope.Has(space)
	}
	version, _ := schema.ParseGroupVersion(field("apiVersion"))
	res, ok := store.ResourceFor(version.WithKind(field("kind")))
	if !ok {
		return true
	}
	_, there := c.world.Store.GetObject(res, c.plainKey(store.Key{Name: field("name")}))
	return !there
}

// withoutOthers removes the drivers and volumes of other runs from a node.
func (c *Cluster) withoutOthers(u *unstructured.Unstructured) {
	if c.options.Deploy.Scope == "" {
		return
	}
	isOurs := func(driver string) bool { return slices.Contains(c.Drivers(), driver) }
	keep := func(of func(any) string, path ...string) {
		list, there, _ := unstructured.NestedSlice(u.Object, path...)
		if !there {
			return
		}
		list = slices.DeleteFunc(list, func(item any) bool { return !isOurs(of(item)) })
		if len(list) == 0 {
			unstructured.RemoveNestedField(u.Object, path...)
			return
		}
		_ = unstructured.SetNestedSlice(u.Object, list, path...) // it was a list before
	}
	ofVolume := func(unique string) string { // kubernetes.io/csi/DRIVER^HANDLE
		driver, _, _ := strings.Cut(strings.TrimPrefix(unique, "kubernetes.io/csi/"), "^")
		return driver
	}
	name := func(item any) string { m, _ := item.(map[string]any); text, _ := m["name"].(string); return text }
	switch u.GetKind() {
	case "CSINode":
		keep(name, "spec", "drivers")
	case "Node":
		keep(func(item any) string { text, _ := item.(string); return ofVolume(text) }, "status", "volumesInUse")
		keep(func(item any) string { return ofVolume(name(item)) }, "status", "volumesAttached")
		c.idsOfOthers(u, isOurs)
	}
}

// nodeIDs is the annotation of a node with its ids in the drivers.
const nodeIDs = "csi.volume.kubernetes.io/nodeid"

func (c *Cluster) idsOfOthers(u *unstructured.Unstructured, isOurs func(driver string) bool) {
	annotations := u.GetAnnotations()
	var ids map[string]string
	if json.Unmarshal([]byte(annotations[nodeIDs]), &ids) != nil {
		return
	}
	for driver := range ids { // the order has no effect
		if !isOurs(driver) {
			delete(ids, driver)
		}
	}
	delete(annotations, nodeIDs)
	if text, err := json.Marshal(ids); err == nil && len(ids) > 0 {
		annotations[nodeIDs] = string(text)
	}
	u.SetAnnotations(annotations)
}

// isSame reports whether only the version of an object has changed.
func isSame(a, b store.Object) bool {
	before, after := a.DeepCopyObject().(store.Object), b.DeepCopyObject().(store.Object)
	before.SetResourceVersion("")
	after.SetResourceVersion("")
	return equality.Semantic.DeepEqual(before, after)
}
