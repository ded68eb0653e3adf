package kind_test

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
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func TestResources(t *testing.T) {
	all := store.Resources()
	assert.True(t, slices.IsSortedFunc(all, func(a, b *store.Resource) int {
		if a.String() < b.String() {
			return -1
		}
		return 1
	}))
	for name, want := range map[string]string{
		"pods": "Pod", "storageclasses": "StorageClass", "csistoragecapacities": "CSIStorageCapacity", "ingresses": "Ingress",
		"networkpolicies": "NetworkPolicy", "endpoints": "Endpoints", "ipaddresses": "IPAddress",
		"volumeattributesclasses": "VolumeAttributesClass", "statefulsets.apps": "StatefulSet",
	} {
		res, ok := store.ResourceNamed(name)
		require.True(t, ok, name)
		assert.Equal(t, want, res.GVK.Kind)
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

// Every kind can be created, read and deleted by callers without the kind's Go type.
func TestEveryKindCanBeStored(t *testing.T) {
	for _, res := range store.Resources() {
		t.Run(res.String(), func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			obj := res.New()
			obj.SetName("x")
			if res.Namespaced {
				obj.SetNamespace("default")
			}
			switch typed := obj.(type) {
			case *corev1.Pod:
				typed.Spec = kindtest.Pod("x").Spec
			case *corev1.PersistentVolume:
				typed.Spec = kindtest.Volume("x").Spec
			case *corev1.PersistentVolumeClaim:
				typed.Spec = kindtest.Claim("x").Spec
			case *storagev1.VolumeAttachment:
				typed.Spec = kindtest.Attachment("x", "n", "pv").Spec
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
				typed.Spec.Selector, typed.Spec.Template = kindtest.Template()
			case *appsv1.DaemonSet:
				typed.Spec.Selector, typed.Spec.Template = kindtest.Template()
			case *appsv1.ReplicaSet:
				typed.Spec.Selector, typed.Spec.Template = kindtest.Template()
			case *appsv1.StatefulSet:
				typed.Spec.Selector, typed.Spec.Template = kindtest.Template()
			case *corev1.Service:
				typed.Spec.Ports = []corev1.ServicePort{{Port: 80}}
			case *batchv1.Job:
				_, typed.Spec.Template = kindtest.Template()
				typed.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			case *batchv1.CronJob:
				typed.Spec.Schedule = "@hourly"
				_, typed.Spec.JobTemplate.Spec.Template = kindtest.Template()
				typed.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			case *rbacv1.ClusterRoleBinding:
				typed.RoleRef = rbacv1.RoleRef{Kind: "ClusterRole", Name: "r"}
			case *rbacv1.RoleBinding:
				typed.RoleRef = rbacv1.RoleRef{Kind: "Role", Name: "r"}
			case *discoveryv1.EndpointSlice:
				typed.AddressType = discoveryv1.AddressTypeIPv4
			case *corev1.Event:
				typed.InvolvedObject.Namespace = "default"
			case *apiextensionsv1.CustomResourceDefinition:
				gadgets().DeepCopyInto(typed)
				obj = typed
			}
			stored, err := s.CreateObject(res, obj)
			require.NoError(t, err)
			assert.Equal(t, res.GVK, stored.GetObjectKind().GroupVersionKind())
			_, err = s.ModifyObject(res, store.KeyOf(obj), kindtest.Label)
			require.NoError(t, err)
			got, ok := s.GetObject(res, store.KeyOf(obj))
			require.True(t, ok)
			assert.Equal(t, "b", got.GetLabels()["a"])
			_, err = s.DeleteObject(res, store.KeyOf(obj))
			require.NoError(t, err)
		})
	}
}
