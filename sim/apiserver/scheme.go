package apiserver

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// moreTypes are the Go types of built-in kinds that client-go does not have.
var moreTypes = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(snapshotv1.AddToScheme(s))
	group := schema.GroupVersion{Group: groupv1.GroupName, Version: "v1"} // C-GSNAP-1: the types of v1beta2 are those of v1
	s.AddKnownTypes(group,
		&groupv1.VolumeGroupSnapshot{}, &groupv1.VolumeGroupSnapshotList{},
		&groupv1.VolumeGroupSnapshotClass{}, &groupv1.VolumeGroupSnapshotClassList{},
		&groupv1.VolumeGroupSnapshotContent{}, &groupv1.VolumeGroupSnapshotContentList{},
	)
	metav1.AddToGroupVersion(s, group)
	return s
}()

// types are the Go types among which are those of the kind.
func (k *kind) types() *runtime.Scheme {
	if moreTypes.Recognizes(k.gvk) {
		return moreTypes
	}
	return scheme.Scheme
}

// inProtobuf says that the kind has that form, too.
func (k *kind) inProtobuf() bool {
	if k.own != nil {
		return false
	}
	_, ok := k.newObject().(interface{ Marshal() ([]byte, error) })
	return ok
}
