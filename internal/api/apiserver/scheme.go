package apiserver

import (
	"sync"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// moreTypes are the Go types of built-in kinds that client-go does not have.
var moreTypes = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(s))
	utilruntime.Must(snapshotv1.AddToScheme(s))
	utilruntime.Must(addGroupSnapshots(s))
	return s
})

// types are the Go types among which are those of the kind.
func (k *servedKind) types() *runtime.Scheme {
	if more := moreTypes(); more.Recognizes(k.gvk) {
		return more
	}
	return scheme.Scheme
}

// inProtobuf says that the kind has that form, too.
func (k *servedKind) inProtobuf() bool {
	if k.custom != nil {
		return false
	}
	_, ok := k.newObject().(interface{ Marshal() ([]byte, error) })
	return ok
}
