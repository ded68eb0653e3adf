package pluginmanager

import (
	"maps"
	"slices"
)

// creation numbers the creations of sockets: the same path created again is
// another plugin. K-REG-4
type creation uint64

// desiredState is the registration sockets that are there, by path.
type desiredState map[string]creation

// plugin is what a registration socket said about itself.
type plugin struct {
	socket  string
	created creation
	name    string
}

// actualState is the plugins that are registered, or about to be, by socket.
type actualState map[string]plugin

func (a actualState) has(socket string, created creation) bool {
	p, ok := a[socket]
	return ok && p.created == created
}

// outdated are the plugins whose socket is gone or is another one now, in the
// order of their sockets. K-REG-6
func (a actualState) outdated(desired desiredState) []plugin {
	var found []plugin
	for _, socket := range slices.Sorted(maps.Keys(a)) {
		if created, ok := desired[socket]; !ok || created != a[socket].created {
			found = append(found, a[socket])
		}
	}
	return found
}

// missing are the sockets of plugins that are not registered, in order. K-REG-6
func (a actualState) missing(desired desiredState) []string {
	var found []string
	for _, socket := range slices.Sorted(maps.Keys(desired)) {
		if !a.has(socket, desired[socket]) {
			found = append(found, socket)
		}
	}
	return found
}
