package kind

import (
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// L-OBJ-1, L-OBJ-2
func init() {
	register(Kind{
		Group: "csi.storage.k8s.io", Version: "v1alpha1", Name: "CSIDriver",
		fresh:  func() store.Object { return &legacy.CSIDriver{} },
		traits: ofDefinition | clusterScoped | qualified,
	})
}
