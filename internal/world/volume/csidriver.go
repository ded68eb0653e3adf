package volume

import (
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// CSIDriver is a driver's CSIDriver object as a component knows it: from its cache,
// without the fields that are newer than the component.
func CSIDriver(c *component.Component, driver string) (*storagev1.CSIDriver, bool) {
	key := store.Key{Name: driver}
	if !c.Version.Has(version.CSINode) {
		old, ok := component.Cached[*legacy.CSIDriver](c, key)
		if !ok {
			return nil, false
		}
		return old.AsCSIDriver(c.Legacy), true
	}
	d, ok := component.Cached[*storagev1.CSIDriver](c, key)
	if !ok {
		return nil, false
	}
	return known(c.Version, d), true
}

// known is a CSIDriver without the fields that a version does not know.
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
