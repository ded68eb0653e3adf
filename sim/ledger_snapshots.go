package sim

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/sim/store"
)

// snapshotHandles are the snapshots that VolumeSnapshotContents account for, if the
// API has such objects.
func (a *accountant) snapshotHandles() map[string]bool {
	known := map[string]bool{}
	contents, ok := store.ResourceNamed("volumesnapshotcontents")
	if !ok {
		return known
	}
	for content := range a.World.Store.ListObjects(contents, "") {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(content)
		if err != nil {
			a.unseen("VolumeSnapshotContent "+content.GetName(), err)
			continue
		}
		for _, at := range [][]string{{"status", "snapshotHandle"}, {"spec", "source", "snapshotHandle"}} {
			if handle, found, err := unstructured.NestedString(fields, at...); found && err == nil {
				known[handle] = true
			}
		}
	}
	return known
}
