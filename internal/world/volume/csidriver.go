package volume

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// CSIDriver returns a driver's CSIDriver object from a component's cache, without fields that are
// newer than the component.
func CSIDriver(c *component.Component, driver string) (*storagev1.CSIDriver, bool) {
	return csiDriverIn(c.Cache, c.Version, c.Legacy, driver)
}

// csiDriverIn returns the object without fields that are newer than a version.
func csiDriverIn(r store.Reader, v version.Version, o legacy.Options, driver string) (*storagev1.CSIDriver, bool) {
	key := store.Key{Name: driver}
	if !v.Has(version.CSINode) {
		old, ok := store.Get[*legacy.CSIDriver](r, key)
		if !ok {
			return nil, false
		}
		return old.AsCSIDriver(o), true
	}
	d, ok := store.Get[*storagev1.CSIDriver](r, key)
	if !ok {
		return nil, false
	}
	return known(v, d), true
}

// known returns a CSIDriver without the fields that a version lacks.
func known(v version.Version, d *storagev1.CSIDriver) *storagev1.CSIDriver {
	if v.Has(version.MutableAllocatable) && v.Has(version.TokensInSecrets) { // nothing is newer
		return d
	}
	d = d.DeepCopy()
	d.Spec.NodeAllocatableUpdatePeriodSeconds, d.Spec.ServiceAccountTokenInSecrets = nil, nil
	if !v.Has(version.SELinuxMount) {
		d.Spec.SELinuxMount = nil
	}
	if !v.Has(version.ServiceAccountTokens) {
		d.Spec.TokenRequests, d.Spec.RequiresRepublish = nil, nil
	}
	if !v.Has(version.FSGroupPolicy) {
		d.Spec.FSGroupPolicy = nil
	}
	return d
}
