package apiserver

import (
	"sync"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// moreTypes are the Go types of built-in kinds that client-go lacks.
var moreTypes = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(snapshotv1.AddToScheme(s))
	utilruntime.Must(addGroupSnapshots(s))
	return s
})

// types returns the scheme with the Go type of the kind.
func (k *servedKind) types() *runtime.Scheme {
	if more := moreTypes(); more.Recognizes(k.gvk) {
		return more
	}
	return scheme.Scheme
}

// inProtobuf reports whether the kind can be encoded in protobuf.
func (k *servedKind) inProtobuf() bool {
	if k.custom != nil {
		return false
	}
	_, ok := k.newObject().(interface{ Marshal() ([]byte, error) })
	return ok
}
