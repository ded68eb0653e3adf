package manager

import (
	"fmt"
	"maps"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const fenceFinalizer = "csiaddons.openshift.io/network-fence" // A-NF-3

// The keys of a NetworkFenceClass that are for the controller. A-NF-4
const (
	fencePrefix          = "csiaddons.openshift.io/"
	fenceSecretName      = fencePrefix + "networkfence-secret-name"
	fenceSecretNamespace = fencePrefix + "networkfence-secret-namespace"
)

// syncFence makes the driver fence or unfence, as a NetworkFence requires. The clients of a deleted
// fence stay fenced. A-NF-5
func (m *Manager) syncFence(p *kernel.Process, key store.Key) error {
	fence, err := kinds.Get[kinds.NetworkFence](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	if fence.DeletionTimestamp != nil {
		return m.release(p, fence, fenceFinalizer)
	}
	if mistake := fenceMistake(fence); mistake != "" { // A-NF-2
		fence.Status.Result, fence.Status.Message = "Failed", "Failed to validate Networkfence parameters: "+mistake
		return kinds.UpdateStatus(p, m.Component, fence)
	}
	request, c, err := m.fenceRequest(fence)
	if err != nil {
		return err
	}
	if err = m.protect(p, fence, fenceFinalizer); err != nil {
		err = fmt.Errorf("failed to add finalizer (%s) to NetworkFence resource (%s): %w", fenceFinalizer, fence.Name, err)
	} else {
		err = c.call(p, "FenceClusterNetwork", defaultTimeout, func(s relay.Asked, call relay.Call) error { return s.Fence(call, request) })
	}
	if err != nil { // A-NF-3
		fence.Status.Result, fence.Status.Message = "Failed", err.Error()
		_ = kinds.UpdateStatus(p, m.Component, fence) // it is retried anyway
		return err
	}
	fence.Status.Result, fence.Status.Message = "Succeeded", "fencing operation successful"
	if request.Unfence {
		fence.Status.Message = "unfencing operation successful"
	}
	return kinds.UpdateStatus(p, m.Component, fence)
}

func fenceMistake(f *kinds.NetworkFence) string {
	switch {
	case f.Spec.NetworkFenceClassName != "" && f.Spec.CIDRs == nil:
		return "required parameter spec.cidrs is not specified"
	case f.Spec.NetworkFenceClassName != "":
		return ""
	case f.Spec.Driver == "":
		return "required parameter driver is not specified"
	case f.Spec.CIDRs == nil:
		return "required parameter cidrs is not specified"
	}
	return ""
}

// fenceRequest returns the request to the driver, and its connection. A-NF-3, A-NF-4
func (m *Manager) fenceRequest(f *kinds.NetworkFence) (relay.Fence, *connection, error) {
	request := relay.Fence{
		Parameters: maps.Clone(f.Spec.Parameters), Secret: relay.Secret{Name: f.Spec.Secret.Name, Namespace: f.Spec.Secret.Namespace},
		CIDRs: f.Spec.CIDRs, Unfence: f.Spec.FenceState != "Fenced",
	}
	driver := f.Spec.Driver
	if name := f.Spec.NetworkFenceClassName; name != "" {
		class, err := kinds.Get[kinds.NetworkFenceClass](m.Component, store.Key{Name: name})
		if err != nil {
			return request, nil, fmt.Errorf("failed to get networkfenceclass with name %q due to error: %w", name, err)
		}
		driver = class.Spec.Provisioner
		own, secret := splitClass(class)
		request.Secret = secret
		if request.Parameters == nil {
			request.Parameters = map[string]string{}
		}
		maps.Copy(request.Parameters, own)
	}
	c, err := m.leader(driver)
	if err == nil && !c.can("network_fence.NETWORK_FENCE") {
		err = fmt.Errorf("leading CSIAddonsNode %q for driver %q does not support NetworkFence", c.name, driver)
	}
	if err != nil {
		return request, nil, fmt.Errorf("failed to get networkfenceclient using driver %q due to error: %w", driver, err)
	}
	return request, c, nil
}

// splitClass separates the parameters of a class into the driver's parameters and the secret.
func splitClass(class *kinds.NetworkFenceClass) (map[string]string, relay.Secret) {
	own := maps.Clone(class.Spec.Parameters)
	secret := relay.Secret{Name: own[fenceSecretName], Namespace: own[fenceSecretNamespace]}
	delete(own, fenceSecretName)
	delete(own, fenceSecretNamespace)
	return own, secret
}
