// Package cluster holds the parts of a simulated cluster: its machines, nodes with kubelets and
// leases, drivers with their plugins and sidecars, controllers, the power, the faults that kill
// components, the checks of a run, the objects that a scenario has applied, its users, unpacked
// images, pods of CSI-Addons, the gate of the API's clients, the way to containers, drawn faults,
// and the mounts and the storage of the mock driver.
package cluster
