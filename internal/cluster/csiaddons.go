package cluster

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	"github.com/csisim/csisim/internal/world/store"
)

// DefineCSIAddons defines the kinds of CSI-Addons that are not defined yet. Applying the first
// object of one of these kinds has the same effect.
func (o *Objects) DefineCSIAddons() error {
	if o.addons {
		return nil
	}
	o.addons = true
	for _, d := range csiaddons.All() {
		if _, err := store.Adopt(o.store, d); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("defining the kinds of CSI-Addons: %w", err)
		}
	}
	return nil
}

// DefineKindOf defines the kinds of CSI-Addons when an object needs them.
func (o *Objects) DefineKindOf(obj store.Object) error {
	if csiaddons.Has(obj.GetObjectKind().GroupVersionKind().Group) {
		return o.DefineCSIAddons()
	}
	return nil
}
