package provisioner

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

const (
	// capacityNamespace is the namespace of the sidecar.
	capacityNamespace = sidecar.Namespace

	driverLabel  = "csi.storage.k8s.io/drivername"
	managerLabel = "csi.storage.k8s.io/managed-by"
	managerName  = "external-provisioner"
)

// offer is the key of a capacity: a topology segment and a class. C-PROV-90
type offer struct{ segment, class string }

// capacities publishes the driver's free capacity in CSIStorageCapacity objects. It works while the
// CSIDriver object has storageCapacity true: deployments set the two together.
type capacities struct {
	*Provisioner
	offers map[offer]term
	queue  *workqueue.Queue[offer]
}

func (c *Provisioner) startCapacities() {
	k := &capacities{Provisioner: c, offers: map[offer]term{}}
	c.capacities = k
	retrying := workqueue.Options{Workers: 1, FirstDelay: c.options.RetryIntervalStart, MaxDelay: c.options.RetryIntervalMax}
	c.LimitRequests(component.Capacities, float64(c.options.KubeAPICapacityQPS), int(c.options.KubeAPICapacityBurst))
	k.queue = workqueue.New("capacities", retrying, c.Go, k.sync)
	c.Go("capacity topology", k.follow)
	c.Go("capacity poll", func(p *kernel.Process) {
		for {
			p.Idle(c.options.CapacityPollInterval)
			k.refresh(func(offer) bool { return true })
		}
	})
}

// follow updates the offers when nodes, classes or the CSIDriver object change. It restores objects
// that others have changed or deleted. C-PROV-92
func (k *capacities) follow(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](k.Component, p)
	csiNodes := component.Watch[*storagev1.CSINode](k.Component, p)
	classes := component.Watch[*storagev1.StorageClass](k.Component, p)
	driver := component.Watch[*storagev1.CSIDriver](k.Component, p, store.ByKey(store.Key{Name: k.driver}))
	published := component.Watch[*storagev1.CSIStorageCapacity](k.Component, p)
	for {
		changed := drain(csiNodes, nil) + drain(classes, nil) + drain(driver, nil) + drain(nodes, relabelled)
		if changed > 0 {
			k.revise()
		}
		for e, ok := published.Next(); ok; e, ok = published.Next() {
			if k.own(e.Object) && k.isAmiss(e) {
				k.queue.Add(offerOf(e.Object))
			}
		}
		p.Wait("changes of topology and classes", func() bool {
			return nodes.Len()+csiNodes.Len()+classes.Len()+driver.Len()+published.Len() > 0
		})
	}
}

// drain counts the relevant changes; a nil filter means that all are relevant.
func drain[T store.Object](w *store.Watcher[T], matters func(store.Event[T]) bool) int {
	n := 0
	for e, ok := w.Next(); ok; e, ok = w.Next() {
		if matters == nil || matters(e) {
			n++
		}
	}
	return n
}

func relabelled(e store.Event[*corev1.Node]) bool {
	return e.Type != store.Modified || !maps.Equal(e.Old.Labels, e.Object.Labels)
}

func (k *capacities) own(c *storagev1.CSIStorageCapacity) bool {
	return c.Labels[driverLabel] == k.driver && c.Labels[managerLabel] == k.manager()
}

// manager returns the label value by which the provisioner of a node finds its own objects. A label
// value has at most 63 characters, so the middle of a longer name is replaced by a hash.
func (k *capacities) manager() string {
	node := k.options.Node
	name := managerName + "-" + node
	kept := validation.LabelValueMaxLength - len(node) - len("-12345678-")
	hash := fnv.New32a()
	switch {
	case node == "":
		return managerName
	case len(name) <= validation.LabelValueMaxLength:
		return name
	case kept > 0:
		hash.Write([]byte(managerName))
		return fmt.Sprintf("%s-%08x-%s", managerName[:kept], hash.Sum32(), node)
	}
	hash.Write([]byte(name))
	return fmt.Sprintf("%s-%08x", managerName, hash.Sum32())
}

func offerOf(c *storagev1.CSIStorageCapacity) offer {
	return offer{segmentText(termOf(c.NodeTopology.MatchLabels)), c.StorageClassName}
}

// isAmiss reports whether an event leaves an offer with no object or with several, or an object
// with no offer. C-PROV-93
func (k *capacities) isAmiss(e store.Event[*storagev1.CSIStorageCapacity]) bool {
	o := offerOf(e.Object)
	_, made := k.offers[o]
	switch e.Type {
	case store.Deleted:
		return made
	case store.Added:
		return !made || len(k.publishedFor(o)) > 1
	}
	return false
}

func segmentText(t term) string {
	var b strings.Builder
	for _, l := range t {
		fmt.Fprintf(&b, "%s=%s,", l.key, l.value)
	}
	return b.String()
}

// revise queues new offers and obsolete ones.
func (k *capacities) revise() {
	now := k.current()
	for _, o := range slices.Concat(sortedOffers(k.offers), sortedOffers(now)) {
		_, before := k.offers[o]
		if _, after := now[o]; before != after {
			k.queue.Add(o)
		}
	}
	k.offers = now
}

func sortedOffers(offers map[offer]term) []offer {
	return slices.SortedFunc(maps.Keys(offers), func(a, b offer) int {
		return strings.Compare(a.segment+"\n"+a.class, b.segment+"\n"+b.class)
	})
}

func (k *capacities) current() map[offer]term {
	offers := map[offer]term{}
	driver, ok := component.Cached[*storagev1.CSIDriver](k.Component, store.Key{Name: k.driver})
	if !ok || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return offers
	}
	segments := k.reachable()
	for class := range store.List[*storagev1.StorageClass](k.Cache, "") {
		if class.Provisioner != k.driver || *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer {
			continue
		}
		for _, t := range segments {
			offers[offer{segmentText(t), class.Name}] = t
		}
	}
	return offers
}

// reachable returns the segments of the nodes that run the driver. A driver without topology has
// one segment, and it matches all nodes. C-PROV-92
func (k *capacities) reachable() []term {
	if !k.promises.Serves("VOLUME_ACCESSIBILITY_CONSTRAINTS") {
		return []term{nil}
	}
	var segments []term
	if k.local != nil { // the driver of a single node has exactly one segment
		return []term{termOf(k.local.node.Labels)}
	}
	for csiNode := range store.List[*storagev1.CSINode](k.Cache, "") {
		keys := topologyKeys(csiNode, k.driver)
		node, ok := component.Cached[*corev1.Node](k.Component, store.KeyOf(csiNode))
		if len(keys) == 0 || !ok {
			continue
		}
		if t, ok := segmentOf(node.Labels, keys); ok {
			segments = append(segments, t)
		}
	}
	return distinct(segments)
}

// refresh requests the capacity of some offers from the driver again.
func (k *capacities) refresh(concerns func(offer) bool) {
	if k == nil {
		return
	}
	for _, o := range sortedOffers(k.offers) {
		if concerns(o) {
			k.queue.Add(o)
		}
	}
}

// refreshFor requests the capacity again after the creation or deletion of a volume. It uses the
// segments of the volume's affinity, or the segments of its class if the volume has no affinity.
// C-PROV-91
func (k *capacities) refreshFor(pv *corev1.PersistentVolume) {
	if k == nil {
		return
	}
	if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
		k.refresh(func(o offer) bool { return o.class == pv.Spec.StorageClassName })
		return
	}
	touched := map[string]bool{}
	for _, t := range pv.Spec.NodeAffinity.Required.NodeSelectorTerms {
		labels := map[string]string{}
		for _, e := range t.MatchExpressions {
			labels[e.Key] = e.Values[0]
		}
		touched[segmentText(termOf(labels))] = true
	}
	k.refresh(func(o offer) bool { return touched[o.segment] })
}

// sync creates or updates the object of a current offer, and deletes the objects of an obsolete
// one. C-PROV-92
func (k *capacities) sync(p *kernel.Process, o offer) error {
	published := k.publishedFor(o)
	segment, made := k.offers[o]
	if !made {
		return k.remove(p, published)
	}
	class, ok := component.Cached[*storagev1.StorageClass](k.Component, store.Key{Name: o.class})
	if !ok {
		return nil
	}
	answer, err := csi.NewControllerClient(k.conn(p)).GetCapacity(context.Background(), &csi.GetCapacityRequest{
		Parameters: class.Parameters, AccessibleTopology: topologies([]term{segment})[0],
	})
	if err != nil {
		return fmt.Errorf("CSI GetCapacity for class %s in %s: %w", o.class, o.segment, err)
	}
	capacity := resource.NewQuantity(answer.GetAvailableCapacity(), resource.BinarySI)
	var largest *resource.Quantity
	if answer.GetMaximumVolumeSize() != nil {
		largest = resource.NewQuantity(answer.GetMaximumVolumeSize().GetValue(), resource.BinarySI)
	}
	if len(published) == 0 {
		_, err := component.Create(p, k.Component, k.describe(o, segment, capacity, largest))
		return err
	}
	if err := k.remove(p, published[1:]); err != nil {
		return err
	}
	object := published[0].DeepCopy()
	object.Capacity, object.MaximumVolumeSize = capacity, largest
	if equality.Semantic.DeepEqual(object, published[0]) {
		return nil
	}
	_, err = component.Update(p, k.Component, object)
	return err
}

func (k *capacities) publishedFor(o offer) []*storagev1.CSIStorageCapacity {
	var found []*storagev1.CSIStorageCapacity
	for c := range store.List[*storagev1.CSIStorageCapacity](k.Cache, capacityNamespace) {
		if k.own(c) && offerOf(c) == o {
			found = append(found, c)
		}
	}
	return found
}

func (k *capacities) describe(o offer, segment term, capacity, largest *resource.Quantity) *storagev1.CSIStorageCapacity {
	labels := map[string]string{}
	for _, l := range segment {
		labels[l.key] = l.value
	}
	return &storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "csisc-", Namespace: capacityNamespace,
			Labels: map[string]string{driverLabel: k.driver, managerLabel: k.manager()},
		},
		StorageClassName: o.class, NodeTopology: &metav1.LabelSelector{MatchLabels: labels},
		Capacity: capacity, MaximumVolumeSize: largest,
	}
}

func (k *capacities) remove(p *kernel.Process, objects []*storagev1.CSIStorageCapacity) error {
	for _, c := range objects {
		if _, err := component.Delete[*storagev1.CSIStorageCapacity](p, k.Component, store.KeyOf(c)); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete CSIStorageCapacity %s: %w", store.KeyOf(c), err)
		}
	}
	return nil
}
