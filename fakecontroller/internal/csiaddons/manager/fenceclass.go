package manager

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// fenceClasses is the annotation of a CSIAddonsNode with the classes of its driver. A-NF-6
const fenceClasses = "csiaddons.openshift.io/networkfenceclass-names"

// startFenceClasses runs the controller that writes the names of the classes to the nodes. A-NF-6
func (m *Manager) startFenceClasses() {
	queue := workqueue.New("fence classes", m.oneByOne(), m.Go, m.syncFenceClass)
	m.follow("fence classes", (&kinds.NetworkFenceClass{}).Of(), func(e store.Event[store.Object]) { queue.Add(store.KeyOf(e.Object)) })
	m.follow("nodes of fence classes", (&kinds.Node{}).Of(), func(e store.Event[store.Object]) {
		if e.Type != store.Added {
			return
		}
		node, err := kinds.Get[kinds.Node](m.Component, store.KeyOf(e.Object))
		if err != nil {
			return
		}
		for class := range kinds.List[kinds.NetworkFenceClass](m.Component, "") {
			if class.Spec.Provisioner == node.Spec.Driver.Name {
				queue.Add(store.KeyOf(class))
			}
		}
	})
}

// syncFenceClass adds a class to the nodes of its driver, or removes it from them. A-NF-6
func (m *Manager) syncFenceClass(p *kernel.Process, key store.Key) error {
	class, err := kinds.Get[kinds.NetworkFenceClass](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	if err := checkFenceParameters(class.Spec.Parameters); err != nil {
		return err
	}
	goes := class.DeletionTimestamp != nil
	if !goes {
		if err := m.protect(p, class, nodeFinalizer); err != nil {
			return err
		}
	}
	var failed []string
	for node := range kinds.List[kinds.Node](m.Component, "") {
		if node.Spec.Driver.Name != class.Spec.Provisioner || node.DeletionTimestamp != nil {
			continue
		}
		if err := m.nameClass(p, node, class.Name, goes); err != nil {
			failed = append(failed, fmt.Sprintf("error processing node %s: for NetworkFenceClass %s: %v", node.Name, class.Name, err))
		}
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("multiple errors occurred: %s", strings.Join(failed, ", "))
	case goes:
		return m.release(p, class, nodeFinalizer)
	}
	return nil
}

func checkFenceParameters(parameters map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		switch {
		case !strings.HasPrefix(key, fencePrefix):
		case key == fenceSecretName && parameters[key] == "":
			return errors.New("secret name cannot be empty")
		case key == fenceSecretNamespace && parameters[key] == "":
			return errors.New("secret namespace cannot be empty")
		case key != fenceSecretName && key != fenceSecretNamespace:
			return fmt.Errorf("found unknown parameter key %q with reserved prefix %s", key, fencePrefix)
		}
	}
	return nil
}

// nameClass adds the class to the annotation of one node, or removes it.
func (m *Manager) nameClass(p *kernel.Process, node *kinds.Node, class string, goes bool) error {
	if len(node.Status.Capabilities) == 0 {
		return errors.New("CSIAddonsNode status capabilities not found")
	}
	if !slices.ContainsFunc(node.Status.Capabilities, func(c string) bool { return strings.Contains(c, "GET_CLIENTS_TO_FENCE") }) {
		return nil
	}
	names, err := classesOf(node)
	has := slices.Contains(names, class)
	if err != nil || has != goes {
		return err
	}
	if goes {
		names = slices.DeleteFunc(names, func(n string) bool { return n == class })
	} else {
		names = append(names, class)
	}
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	node.Annotations[fenceClasses] = string(text)
	if len(names) == 0 {
		delete(node.Annotations, fenceClasses)
	}
	return kinds.Update(p, m.Component, node)
}

func classesOf(node *kinds.Node) (names []string, err error) {
	if text := node.Annotations[fenceClasses]; text != "" {
		err = json.Unmarshal([]byte(text), &names)
	}
	return names, err
}

// fenceClients requests the clients of each class from the driver. A-NODE-10
func (m *Manager) fenceClients(p *kernel.Process, node *kinds.Node, c *connection) (all []kinds.FenceClients, err error) {
	names, err := classesOf(node)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		class, err := kinds.Get[kinds.NetworkFenceClass](m.Component, store.Key{Name: name})
		if err != nil {
			return nil, err
		}
		if !c.can("network_fence.GET_CLIENTS_TO_FENCE") {
			continue
		}
		own, secret := splitClass(class)
		var clients []*fence.ClientDetails
		err = c.call(p, "GetFenceClients", noTimeout, func(s relay.Asked, call relay.Call) (err error) {
			clients, err = s.FenceClients(call, own, secret)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, kinds.FenceClients{Class: name, Clients: clientsOf(clients)})
	}
	return all, nil
}

func clientsOf(details []*fence.ClientDetails) (clients []kinds.FenceClient) {
	for _, c := range details {
		client := kinds.FenceClient{ID: c.GetId(), CIDRs: []string{}}
		for _, a := range c.GetAddresses() {
			client.CIDRs = append(client.CIDRs, a.GetCidr())
		}
		clients = append(clients, client)
	}
	return clients
}
