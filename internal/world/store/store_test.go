package store_test

import (
	"slices"
	"testing"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/world/store"
)

func names[T store.Object](objects func(func(T) bool)) (all []string) {
	for obj := range objects {
		all = append(all, store.KeyOf(obj).String())
	}
	return all
}

func TestListIsOrderedByKey(t *testing.T) {
	s := store.New(store.Options{})
	system := secret("a")
	system.Namespace = "kube-system"
	create(t, s, system)
	create(t, s, secret("b"))
	create(t, s, secret("a"))
	assert.Equal(t, []string{"default/a", "default/b", "kube-system/a"}, names(store.List[*corev1.Secret](s, "")))
	assert.Equal(t, []string{"default/a", "default/b"}, names(store.List[*corev1.Secret](s, "default")))
	assert.Empty(t, names(store.List[*corev1.Secret](s, "def")), "a namespace is no prefix")
}

func TestReadsShareTheStoredObject(t *testing.T) {
	s := store.New(store.Options{})
	stored := create(t, s, secret("a"))
	got, _ := store.Get[*corev1.Secret](s, inDefault("a"))
	assert.Same(t, stored, got)
}

func TestIndexes(t *testing.T) {
	s := store.New(store.Options{})
	ephemeral := pod("e", onNode("n"), func(p *corev1.Pod) {
		p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: claim("x").Spec},
		}}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "owner", UID: "owner-uid"}}
	})
	create(t, s, pod("p", onNode("n")))
	create(t, s, ephemeral)
	bound := volume("bound")
	bound.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "c"}
	create(t, s, bound)
	create(t, s, volume("free"))
	c := claim("c")
	c.Spec.VolumeName = "bound"
	create(t, s, c)
	create(t, s, attachment("va", "n", "bound"))
	create(t, s, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "ev", Namespace: "default"},
		InvolvedObject: corev1.ObjectReference{Namespace: "default", UID: types.UID("pod-uid")},
	})

	assert.Equal(t, []string{"default/e", "default/p"}, names(store.Indexed[*corev1.Pod](s, store.PodsByNode, "n")))
	assert.Equal(t, []string{"default/p"}, names(store.Indexed[*corev1.Pod](s, store.PodsByClaim, "default/claim-p")))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, store.PodsByClaim, "default/e-data")))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, store.OwnerUID, "owner-uid")))
	assert.Equal(t, []string{"bound"}, names(store.Indexed[*corev1.PersistentVolume](s, store.VolumesByClaim, "default/c")))
	assert.Equal(t, []string{"free"}, names(store.Indexed[*corev1.PersistentVolume](s, store.VolumesByHandle, "d.example.com^handle-free")))
	assert.Equal(t, []string{"free"}, names(store.Indexed[*corev1.PersistentVolume](s, store.UnboundVolumesByClass, "")))
	assert.Equal(t, []string{"default/c"}, names(store.Indexed[*corev1.PersistentVolumeClaim](s, store.ClaimsByVolume, "bound")))
	assert.Equal(t, []string{"default/c"}, names(store.Indexed[*corev1.PersistentVolumeClaim](s, store.ClaimsByClass, "")))
	for index, value := range map[store.Index]string{
		store.AttachmentsByNode: "n", store.AttachmentsByVolume: "bound", store.AttachmentsByAttacher: "d.example.com",
	} {
		assert.Equal(t, []string{"va"}, names(store.Indexed[*storagev1.VolumeAttachment](s, index, value)), index)
	}

	remove[*corev1.Pod](t, s, inDefault("p"), store.GracePeriod(0))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, store.PodsByNode, "n")))
}

func TestTheFutureCannotBeShown(t *testing.T) {
	s := store.New(store.Options{})
	_, err := s.At(s.Revision() + 1)
	assert.ErrorContains(t, err, "is in the future")
}

func TestGuardNamesAnObjectThatWasChangedInPlace(t *testing.T) {
	s := store.New(store.Options{Guard: true})
	create(t, s, secret("a"))
	stored := create(t, s, secret("b"))
	require.NoError(t, s.VerifyImmutable())

	label(stored)

	assert.EqualError(t, s.VerifyImmutable(), "*v1.Secret default/b was changed in place after revision 4: copy objects before changing them")
	assert.ErrorContains(t, store.New(store.Options{}).VerifyImmutable(), "Options.Guard is off")
}

func TestResources(t *testing.T) {
	all := store.Resources()
	assert.True(t, slices.IsSortedFunc(all, func(a, b *store.Resource) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	}))
	for name, kind := range map[string]string{
		"pods": "Pod", "storageclasses": "StorageClass", "csistoragecapacities": "CSIStorageCapacity", "ingresses": "Ingress",
		"networkpolicies": "NetworkPolicy", "endpoints": "Endpoints", "ipaddresses": "IPAddress",
		"volumeattributesclasses": "VolumeAttributesClass", "statefulsets.apps": "StatefulSet",
	} {
		res, ok := store.ResourceNamed(name)
		require.True(t, ok, name)
		assert.Equal(t, kind, res.GVK.Kind)
		byKind, ok := store.ResourceFor(res.GVK)
		assert.True(t, ok)
		assert.Same(t, res, byKind)
		ofObject, err := store.ResourceOf(res.New())
		assert.NoError(t, err)
		assert.Same(t, res, ofObject)
	}
	_, ok := store.ResourceFor(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"})
	assert.False(t, ok)
	_, err := store.ResourceOf(&unstructured.Unstructured{})
	assert.ErrorContains(t, err, "no resource is registered for *unstructured.Unstructured")
}

// Every kind can be created, read and deleted by callers that know no types.
func TestEveryKindCanBeStored(t *testing.T) {
	for _, res := range store.Resources() {
		t.Run(res.String(), func(t *testing.T) {
			s := store.New(store.Options{})
			obj := res.New()
			obj.SetName("x")
			if res.Namespaced {
				obj.SetNamespace("default")
			}
			switch typed := obj.(type) {
			case *corev1.Pod:
				typed.Spec = pod("x").Spec
			case *corev1.PersistentVolume:
				typed.Spec = volume("x").Spec
			case *corev1.PersistentVolumeClaim:
				typed.Spec = claim("x").Spec
			case *storagev1.VolumeAttachment:
				typed.Spec = attachment("x", "n", "pv").Spec
			case *storagev1.StorageClass:
				typed.Provisioner = "d"
			case *storagev1.VolumeAttributesClass:
				typed.DriverName, typed.Parameters = "d", map[string]string{"a": "b"}
			case *storagev1.CSIStorageCapacity:
				typed.StorageClassName = "c"
			case *snapshotv1.VolumeSnapshot:
				typed.Spec.Source.PersistentVolumeClaimName = ptr.To("c")
			case *snapshotv1.VolumeSnapshotClass:
				typed.Driver, typed.DeletionPolicy = "d", snapshotv1.VolumeSnapshotContentDelete
			case *snapshotv1.VolumeSnapshotContent:
				typed.Spec = snapshotContent("x").Spec
			case *groupv1.VolumeGroupSnapshot:
				typed.Spec.Source.Selector = &metav1.LabelSelector{}
			case *groupv1.VolumeGroupSnapshotClass:
				typed.Driver, typed.DeletionPolicy = "d", snapshotv1.VolumeSnapshotContentDelete
			case *groupv1.VolumeGroupSnapshotContent:
				typed.Spec = groupv1.VolumeGroupSnapshotContentSpec{
					Driver: "d", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
					VolumeGroupSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "g"},
					Source:                 groupv1.VolumeGroupSnapshotContentSource{VolumeHandles: []string{"h"}},
				}
			case *appsv1.Deployment:
				typed.Spec.Selector, typed.Spec.Template = template()
			case *appsv1.DaemonSet:
				typed.Spec.Selector, typed.Spec.Template = template()
			case *appsv1.ReplicaSet:
				typed.Spec.Selector, typed.Spec.Template = template()
			case *appsv1.StatefulSet:
				typed.Spec.Selector, typed.Spec.Template = template()
			case *batchv1.Job:
				_, typed.Spec.Template = template()
				typed.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			case *batchv1.CronJob:
				typed.Spec.Schedule = "@hourly"
				_, typed.Spec.JobTemplate.Spec.Template = template()
				typed.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			case *rbacv1.ClusterRoleBinding:
				typed.RoleRef = rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}
			case *rbacv1.RoleBinding:
				typed.RoleRef = rbacv1.RoleRef{Kind: "Role", Name: "r"}
			case *corev1.Event:
				typed.InvolvedObject.Namespace = "default"
			case *apiextensionsv1.CustomResourceDefinition:
				gadgets().DeepCopyInto(typed)
				obj = typed
			}
			stored, err := s.CreateObject(res, obj)
			require.NoError(t, err)
			assert.Equal(t, res.GVK, stored.GetObjectKind().GroupVersionKind())
			_, err = s.ModifyObject(res, store.KeyOf(obj), label)
			require.NoError(t, err)
			got, ok := s.GetObject(res, store.KeyOf(obj))
			require.True(t, ok)
			assert.Equal(t, "b", got.GetLabels()["a"])
			_, err = s.DeleteObject(res, store.KeyOf(obj))
			require.NoError(t, err)
		})
	}
}
