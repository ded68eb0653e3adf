package kind

import (
	"fmt"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"

	"github.com/csisim/csisim/internal/world/store"
)

// olderGroupForms returns the versions of a kind of group snapshots that precede v1. The project's
// definitions have no conversion, so a version omits fields that it does not have. For example,
// v1beta1 omits the snapshots in the status of a content. C-GSNAP-1
func olderGroupForms(name string, beta2, beta1, v1 func() store.Object) []Form {
	first := formWithSameFields(name, groupv1beta1.SchemeGroupVersion, beta1, v1)
	first.Deprecated = fmt.Sprintf("%s %s is deprecated; use %s %s", groupv1beta1.SchemeGroupVersion, name, groupv1.SchemeGroupVersion, name)
	return []Form{formWithSameFields(name, groupv1beta2.SchemeGroupVersion, beta2, v1), first}
}
