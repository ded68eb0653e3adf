package apiserver

import (
	"sync"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// groupSnapshots has the Go types of v1beta2, which are the same in v1.
var groupSnapshots = schema.GroupVersion{Group: groupv1.GroupName, Version: "v1"}

// goTypes are those of all kinds and their lists: client-go's, and the snapshot kinds'.
var goTypes = sync.OnceValue(func() *runtime.Scheme {
	all := runtime.NewScheme()
	metav1.AddToGroupVersion(all, schema.GroupVersion{Version: "v1"})
	utilruntime.Must(scheme.AddToScheme(all))
	utilruntime.Must(snapshotv1.AddToScheme(all))
	all.AddKnownTypes(groupSnapshots,
		&groupv1.VolumeGroupSnapshot{}, &groupv1.VolumeGroupSnapshotList{},
		&groupv1.VolumeGroupSnapshotClass{}, &groupv1.VolumeGroupSnapshotClassList{},
		&groupv1.VolumeGroupSnapshotContent{}, &groupv1.VolumeGroupSnapshotContentList{},
	)
	metav1.AddToGroupVersion(all, groupSnapshots)
	return all
})

// converter knows the schema of all built-in kinds. It is made once, when it is
// first asked for.
var converter = sync.OnceValue(func() managedfields.TypeConverter {
	return &converters{applyconfigurations.NewTypeConverter(scheme.Scheme), managedfields.NewDeducedTypeConverter()}
})

// converters are client-go's own for its kinds, and for the others one that takes the
// schema from the object: its lists are replaced as a whole.
type converters struct{ own, deduced managedfields.TypeConverter }

func (c *converters) of(gvk schema.GroupVersionKind) managedfields.TypeConverter {
	if scheme.Scheme.Recognizes(gvk) {
		return c.own
	}
	return c.deduced
}

// ObjectToTyped is managedfields.TypeConverter's.
func (c *converters) ObjectToTyped(obj runtime.Object, opts ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return c.of(obj.GetObjectKind().GroupVersionKind()).ObjectToTyped(obj, opts...)
}

// TypedToObject is managedfields.TypeConverter's.
func (c *converters) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	if value.Schema() == typed.DeducedParseableType.Schema {
		return c.deduced.TypedToObject(value)
	}
	return c.own.TypedToObject(value)
}
