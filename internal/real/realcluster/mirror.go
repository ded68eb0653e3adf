package realcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// mirrored are the watched resources, if the cluster has them.
var mirrored = []string{
	"nodes", "csinodes", "csidrivers", "storageclasses", "volumeattributesclasses", "persistentvolumes", "persistentvolumeclaims", "pods",
	"volumeattachments", "statefulsets", "csistoragecapacities", "volumesnapshotclasses", "volumesnapshots", "volumesnapshotcontents",
}

// systemNamespaces contain no objects of a scenario.
var systemNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", "local-path-storage", deploy.Namespace}

// mirror copies the API's objects into the store.
type mirror struct {
	*Cluster
	versions map[types.UID]string // resource versions in the API
	emitted  map[types.UID]int32  // counts of Events
	earlier  map[types.UID]int32  // counts before the run
	began    time.Time
	synced   []func() bool
	failed   error // of a watch
}

func newMirror(c *Cluster) *mirror {
	return &mirror{Cluster: c, versions: map[types.UID]string{}, emitted: map[types.UID]int32{}, earlier: map[types.UID]int32{}, began: time.Now()}
}

// start watches all mirrored resources and returns when each was listed once.
func (m *mirror) start() error {
	served, err := m.served()
	if err != nil {
		return environment(err, "discover the resources of the cluster")
	}
	for _, name := range mirrored {
		if res, ok := store.ResourceNamed(name); ok && served[res.GVR.String()] {
			m.follow(res, func(at time.Time, u *unstructured.Unstructured, gone bool) {
				m.queue.put(at, func() { m.take(res, u, gone) })
			})
		}
	}
	events, _ := store.ResourceNamed("events")
	m.follow(events, func(at time.Time, u *unstructured.Unstructured, gone bool) {
		if !gone {
			m.queue.put(at, func() { m.event(u) })
		}
	})
	err = m.WaitFor("the first lists of its objects", time.Minute, func() bool {
		return m.failed != nil || !slices.ContainsFunc(m.synced, func(synced func() bool) bool { return !synced() })
	})
	if err == nil {
		err = m.failed
	}
	return environment(err, "list the objects of the cluster")
}

// served returns the resources that the API has.
func (m *mirror) served() (map[string]bool, error) {
	lists, err := m.clients.Discovery().ServerPreferredResources()
	if len(lists) == 0 {
		return nil, err
	}
	all := map[string]bool{}
	for _, list := range lists {
		group, version, found := strings.Cut(list.GroupVersion, "/")
		if !found {
			group, version = "", list.GroupVersion
		}
		for _, r := range list.APIResources {
			all[schema.GroupVersionResource{Group: group, Version: version, Resource: r.Name}.String()] = true
		}
	}
	return all, nil
}

// follow lists and watches a resource.
func (m *mirror) follow(res *store.Resource, each func(at time.Time, u *unstructured.Unstructured, gone bool)) {
	client := m.dynamic.Resource(res.GVR)
	source := &cache.ListWatch{
		ListWithContextFunc:  func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) { return client.Watch(ctx, o) },
	}
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: source, ObjectType: &unstructured.Unstructured{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { each(time.Now(), o.(*unstructured.Unstructured), false) },
			UpdateFunc: func(_, o any) { each(time.Now(), o.(*unstructured.Unstructured), false) },
			DeleteFunc: func(o any) {
				if unknown, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = unknown.Obj
				}
				each(time.Now(), o.(*unstructured.Unstructured), true)
			},
		},
	})
	m.synced = append(m.synced, controller.HasSynced)
	go controller.RunWithContext(m.ctx)
}

// take mirrors one change.
func (m *mirror) take(res *store.Resource, u *unstructured.Unstructured, gone bool) {
	if m.isForeign(res, u) {
		return
	}
	if slices.Contains(systemNamespaces, u.GetNamespace()) {
		return
	}
	if (res.GVR.Resource == "nodes" || res.GVR.Resource == "csinodes") && !slices.Contains(m.options.Nodes, u.GetName()) {
		m.takeElsewhere(res, u)
		return
	}
	if u.GetLabels()[deploy.DriverLabel] != "" && u.GetNamespace() != "" {
		return // a driver's own pods, in any namespace of its manifests
	}
	if !gone && m.versions[u.GetUID()] == u.GetResourceVersion() {
		return
	}
	object, err := m.decoded(res, u)
	if err != nil {
		m.failed = fmt.Errorf("read %s %s: %w", res, u.GetName(), err)
		return
	}
	key := store.KeyOf(object)
	old, there := m.world.Store.GetObject(res, key)
	if !gone && there && m.options.Deploy.Scope != "" && isSame(old, object) {
		m.versions[u.GetUID()] = u.GetResourceVersion() // only another run's fields have changed
		return
	}
	if gone {
		delete(m.versions, u.GetUID())
		if there && old.GetUID() == u.GetUID() {
			m.world.Store.Commit(res, key, old, nil)
		}
		return
	}
	m.versions[u.GetUID()] = u.GetResourceVersion()
	if !there {
		old = nil
	}
	m.world.Store.Commit(res, key, old, object)
	switch o := object.(type) {
	case *corev1.Pod:
		m.known["pod "+string(o.UID)] = true
		m.data.follow(o)
	case *corev1.PersistentVolume:
		m.known["volume "+o.Name] = true
	case *corev1.Node:
		if m.lacksLabels(o) {
			m.after(func() { _ = m.furnishNode(o.Name) }) // a deleted node needs none
		}
	case *storagev1.CSINode:
		m.noteTopology(o)
	}
}

// takeElsewhere records a driver's registration on a node outside the scenario, because the
// driver's own manifests may deploy it there.
func (m *mirror) takeElsewhere(res *store.Resource, u *unstructured.Unstructured) {
	if res.GVR.Resource != "csinodes" {
		return
	}
	object, err := m.decoded(res, u)
	if info, ok := object.(*storagev1.CSINode); ok && err == nil {
		m.noteTopology(info)
	}
}

// decoded returns an object in its Go type, without csisim's label.
func (m *mirror) decoded(res *store.Resource, u *unstructured.Unstructured) (store.Object, error) {
	u = u.DeepCopy() // the informer's own
	m.options.Deploy.Scope.PlainFields(u.Object)
	m.withoutOthers(u)
	object := res.New()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(res.GVK)
	object.SetManagedFields(nil)
	labels := object.GetLabels()
	if labels[deploy.ManagedBy] == deploy.By {
		delete(labels, deploy.ManagedBy)
		delete(labels, deploy.DriverLabel)
	}
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, deploy.AwayPrefix) })
	if len(labels) == 0 {
		labels = nil
	}
	object.SetLabels(labels)
	plain(object)
	if set, ok := object.(*appsv1.StatefulSet); ok {
		for i := range set.Spec.VolumeClaimTemplates {
			delete(set.Spec.VolumeClaimTemplates[i].Labels, deploy.ManagedBy)
		}
	}
	if pod, ok := object.(*corev1.Pod); ok {
		for i := range pod.Status.Conditions {
			pod.Status.Conditions[i].Message = ofNodes(pod.Status.Conditions[i].Message, m.allNodes, len(m.options.Nodes))
		}
	}
	return object, nil
}

// plain removes the fields that the network and the service accounts of a cluster add to objects:
// recorded traces do not have these fields.
func plain(object store.Object) {
	switch o := object.(type) {
	case *corev1.Node:
		delete(o.Annotations, undoAnnotation)
		o.Spec.PodCIDR, o.Spec.PodCIDRs, o.Spec.ProviderID = "", nil, ""
	case *storagev1.CSIDriver:
		if delete(o.Annotations, labelsAnnotation); len(o.Annotations) == 0 {
			o.Annotations = nil
		}
	case *corev1.Pod:
		isToken := func(mount corev1.VolumeMount) bool { return strings.HasPrefix(mount.Name, "kube-api-access-") }
		for _, containers := range [][]corev1.Container{o.Spec.InitContainers, o.Spec.Containers} {
			for i := range containers {
				containers[i].VolumeMounts = slices.DeleteFunc(containers[i].VolumeMounts, isToken)
			}
		}
	}
}

// event records an Event when it is new, and whenever its count has changed.
func (m *mirror) event(u *unstructured.Unstructured) {
	if m.isForeignEvent(u) {
		return
	}
	u = u.DeepCopy() // the informer's own
	m.options.Deploy.Scope.PlainFields(u.Object)
	var e corev1.Event
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &e); err != nil {
		return
	}
	count := e.Count // 0 for an Event without a count, such as the scheduler's
	if e.Series != nil {
		count = max(count, e.Series.Count)
	}
	about := e.InvolvedObject
	if slices.Contains(systemNamespaces, about.Namespace) || m.ofDrivers(about) {
		return
	}
	count, isNew := m.inThisRun(&e, count)
	if !isNew {
		return
	}
	source := e.Source.Component
	if source == "" {
		source = e.ReportingController
	}
	m.world.Trace.Add(trace.Entry{
		Kind: trace.KubeEvent, Actor: source, Node: e.Source.Host, Method: e.Reason, Message: ofNodes(e.Message, m.allNodes, len(m.options.Nodes)), Resource: e.Type,
		Name: about.Kind + "/" + about.Name, Detail: count,
	})
}

// ofDrivers reports whether an Event is about an object of a driver's own manifests.
func (m *mirror) ofDrivers(about corev1.ObjectReference) bool {
	return slices.ContainsFunc(m.options.Drivers, func(d deploy.Driver) bool { return d.Own != nil && d.Own.Owns(about.Kind, about.Namespace, about.Name) })
}

// inThisRun returns how often an Event was emitted since the start of the run, and whether this is
// new. The node controller continues the count of an earlier run's Event.
func (m *mirror) inThisRun(e *corev1.Event, count int32) (n int32, isNew bool) {
	before, there := m.emitted[e.UID]
	m.emitted[e.UID] = count
	if !there && e.CreationTimestamp.Time.Before(m.began.Truncate(time.Second)) {
		m.earlier[e.UID] = count
		return 0, false
	}
	return count - m.earlier[e.UID], !there || before != count
}

// checkNodes checks that the cluster has the nodes of the scenario.
func (c *Cluster) checkNodes() error {
	list, err := c.clients.CoreV1().Nodes().List(c.ctx, metav1.ListOptions{})
	if err != nil {
		return environment(err, "list the nodes of the cluster")
	}
	c.allNodes = len(list.Items)
	var names []string
	for _, n := range list.Items {
		names = append(names, n.Name)
		c.labelled[n.Name] = n.Labels
	}
	for _, n := range c.options.Nodes {
		if !slices.Contains(names, n) {
			return &sim.ConfigError{Subject: fmt.Sprintf("node %q", n), Problem: fmt.Sprintf("the cluster has no such node: it has %s; a cluster made with --on kind has those of the scenario", strings.Join(names, ", "))}
		}
	}
	return nil
}
