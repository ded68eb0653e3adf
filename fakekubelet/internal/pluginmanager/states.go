package pluginmanager

import (
	"slices"
	"strings"
)

// creation numbers the creations of sockets, because a socket that is created again at the same
// path is another plugin. K-REG-4
type creation uint64

// desiredState holds the existing registration sockets, by path.
type desiredState map[string]creation

// plugin is the plugin that a registration socket announced.
type plugin struct {
	socket  string
	created creation
	name    string
}

// actualState is the set of plugins, by socket, that are or will soon be registered.
type actualState map[string]plugin

func (a actualState) has(socket string, created creation) bool {
	p, ok := a[socket]
	return ok && p.created == created
}

// outdated returns the plugins with sockets that have vanished or been replaced, in the order of
// their sockets. K-REG-6
func (a actualState) outdated(desired desiredState) []plugin {
	var found []plugin
	for socket, p := range a { // any order: the result is sorted
		if created, ok := desired[socket]; !ok || created != p.created {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(p, q plugin) int { return strings.Compare(p.socket, q.socket) })
	return found
}

// missing returns the sockets of plugins that are not registered, in order. K-REG-6
func (a actualState) missing(desired desiredState) []string {
	var found []string
	for socket, created := range desired { // any order: the result is sorted
		if !a.has(socket, created) {
			found = append(found, socket)
		}
	}
	slices.Sort(found)
	return found
}
