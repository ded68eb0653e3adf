package volume

import (
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// IsInstalled reports whether a node's object lists a driver, for a kubelet of this version.
// L-NEXT-1
func IsInstalled(cluster store.Reader, kubelet version.Version, node, driver string) bool {
	if !kubelet.Has(version.CSINode) {
		info, ok := store.Get[*legacy.CSINodeInfo](cluster, store.Key{Name: node})
		if !ok {
			return false
		}
		entry, ok := info.Driver(driver)
		return ok && entry.Available
	}
	csiNode, ok := store.Get[*storagev1.CSINode](cluster, store.Key{Name: node})
	return ok && slices.ContainsFunc(csiNode.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver })
}
