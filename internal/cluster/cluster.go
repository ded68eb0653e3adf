// Package cluster holds the parts of a simulated cluster: the objects that a scenario has applied,
// its users, unpacked images, node leases, pods of CSI-Addons, the gate of the API's clients, the
// way to containers, drawn faults, and the storage of the mock driver.
package cluster
