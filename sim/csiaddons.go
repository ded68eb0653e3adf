package sim

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	"github.com/csisim/csisim/internal/world/store"
)

// DefineCSIAddons defines the kinds of CSI-Addons, but for those that are defined
// already. The first object of one of these kinds that is applied has the same effect.
func (c *Simulation) DefineCSIAddons() error {
	if c.csiAddons {
		return nil
	}
	c.csiAddons = true
	for _, d := range csiaddons.All() {
		if _, err := store.Adopt(c.World.Store, d); err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("defining the kinds of CSI-Addons: %w", err)
		}
	}
	return nil
}

// defineKindOf defines the kinds of CSI-Addons when an object needs them.
func (c *Simulation) defineKindOf(obj store.Object) error {
	if csiaddons.Has(obj.GetObjectKind().GroupVersionKind().Group) {
		return c.DefineCSIAddons()
	}
	return nil
}
