package scheduler

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const driver = "d.example.com"

// world is an API with only a scheduler.
type world struct {
	*testcluster.API
	scheduler *Scheduler
}

func newWorld(t testing.TB, o store.Options) *world {
	w := &world{API: testcluster.NewAPIWith(t, kernel.Options{}, o)}
	w.scheduler = Start(w.World)
	return w
}

func guarded(t *testing.T) *world { return newWorld(t, store.Options{Guard: true}) }

func (w *world) add(objects ...store.Object) {
	w.T.Helper()
	for _, obj := range objects {
		res, err := store.ResourceOf(obj)
		require.NoError(w.T, err)
		leaving := obj.GetDeletionTimestamp() != nil
		made, err := w.Store.CreateObject(res, obj)
		require.NoError(w.T, err)
		if leaving {
			_, err = w.Store.DeleteObject(res, store.KeyOf(made))
			require.NoError(w.T, err)
		}
	}
}

func modify[T store.Object](w *world, namespace, name string, change func(T)) {
	w.T.Helper()
	_, err := store.Modify(w.Store, store.Key{Namespace: namespace, Name: name}, change)
	require.NoError(w.T, err)
}

func remove[T store.Object](w *world, namespace, name string) {
	w.T.Helper()
	_, err := store.Delete[T](w.Store, store.Key{Namespace: namespace, Name: name}, store.GracePeriod(0))
	require.NoError(w.T, err)
}

// nodeOf returns the node of a pod; "" without one.
func (w *world) nodeOf(pod string) string {
	obj, ok := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: pod})
	require.True(w.T, ok)
	return obj.Spec.NodeName
}

// why returns the message of a pod that fits on no node.
func (w *world) why(pod string) string {
	obj, _ := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: pod})
	if cond := scheduledCondition(obj); cond != nil {
		return cond.Message
	}
	return ""
}

func aNode(name string, change ...func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	for _, f := range change {
		f(n)
	}
	return n
}

func aPod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "sleep"}}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func on(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node} }
}

func using(claims ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for _, claim := range claims {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: claim, VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}})
		}
	}
}

func aClaim(name, class string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func boundTo(volume string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) {
		c.Spec.VolumeName = volume
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}
}

func exclusively(c *corev1.PersistentVolumeClaim) {
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}
}

func aVolume(name string, change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	v := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName:       "later",
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: name}},
		},
	}
	for _, f := range change {
		f(v)
	}
	return v
}

// available sets the phase of a volume to Available, like the PV controller.
func (w *world) available(name string) {
	_, err := store.ModifyStatus(w.Store, store.Key{Name: name}, func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeAvailable })
	require.NoError(w.T, err)
}

func only(key, value string) func(*corev1.PersistentVolume) {
	return func(v *corev1.PersistentVolume) {
		v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}}}}
	}
}

// laterClass binds when a pod is scheduled.
func laterClass(provisioner string, allowed ...string) *storagev1.StorageClass {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "later"}, Provisioner: provisioner, VolumeBindingMode: &mode}
	if len(allowed) > 0 {
		class.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
			{Key: corev1.LabelHostname, Values: allowed}}}}
	}
	return class
}

// csiNode makes a CSINode with the limit of the driver's volumes on the node.
func csiNode(name string, limit int32) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: driver, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}}}
}

func attachment(name, volume, node string, change ...func(*storagev1.VolumeAttachment)) *storagev1.VolumeAttachment {
	va := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: driver, NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume}}}
	for _, f := range change {
		f(va)
	}
	return va
}

// beingDeleted adds a finalizer, so that the deletion waits for the attacher.
func beingDeleted(va *storagev1.VolumeAttachment) {
	va.Finalizers, va.DeletionTimestamp = []string{"external-attacher/d-example-com"}, &metav1.Time{}
}

func by(attacher string) func(*storagev1.VolumeAttachment) {
	return func(va *storagev1.VolumeAttachment) { va.Spec.Attacher = attacher }
}

func inTree(v *corev1.PersistentVolume) {
	v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: v.Name}}
}
