package ledger

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/store"
)

// snapshotHandles returns the snapshots of VolumeSnapshotContents.
func (a *accountant) snapshotHandles() map[string]bool {
	return a.handles("volumesnapshotcontents", []string{"status", "snapshotHandle"}, []string{"spec", "source", "snapshotHandle"})
}

// groupHandles returns the groups of VolumeGroupSnapshotContents.
func (a *accountant) groupHandles() map[string]bool {
	return a.handles("volumegroupsnapshotcontents", []string{"status", "volumeGroupSnapshotHandle"},
		[]string{"spec", "source", "groupSnapshotHandles", "volumeGroupSnapshotHandle"})
}

// handles returns the values of some fields of all objects of a resource, if the API has such
// objects.
func (a *accountant) handles(resource string, fields ...[]string) map[string]bool {
	known := map[string]bool{}
	contents, ok := store.ResourceNamed(resource)
	if !ok {
		return known
	}
	for content := range a.Store.ListObjects(contents, "") {
		values, err := runtime.DefaultUnstructuredConverter.ToUnstructured(content)
		if err != nil {
			a.unseen(resource+" "+content.GetName(), err)
			continue
		}
		for _, at := range fields {
			if handle, found, err := unstructured.NestedString(values, at...); found && err == nil {
				known[handle] = true
			}
		}
	}
	return known
}
