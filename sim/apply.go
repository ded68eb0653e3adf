package sim

import "github.com/csisim/csisim/internal/world/store"

// Apply creates an object or changes it to the given form, as kubectl apply does. It removes fields
// that an earlier Apply set and this one omits, and keeps fields of other writers. It returns
// "created", "configured" or "unchanged".
func (c *Simulation) Apply(obj store.Object) (verb string, err error) {
	if err := c.Powered(); err != nil {
		return "", err
	}
	c.run.gate.Enter(func() { verb, err = c.objects.Apply(obj) })
	return verb, err
}

// Delete requests an object's deletion, as kubectl delete does.
func (c *Simulation) Delete(res *store.Resource, key store.Key, opts ...store.DeleteOption) error {
	err := c.Powered()
	if err != nil {
		return err
	}
	c.run.gate.Enter(func() { err = c.objects.Delete(res, key, opts...) })
	return err
}

// DefineCSIAddons defines the kinds of CSI-Addons that are not defined yet. Applying the first
// object of one of these kinds has the same effect.
func (c *Simulation) DefineCSIAddons() error { return c.objects.DefineCSIAddons() }
