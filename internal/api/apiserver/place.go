package apiserver

import "strings"

// place is what a path names: a group and version, a resource in it, an object, a
// subresource. What is empty was not named.
type place struct {
	group, version                         string
	namespace, resource, name, subresource string
	// watch is said by a path of the old form, /api/v1/watch/….
	watch bool
}

// placeOf reads a path below /api and /apis.
func placeOf(path string) (at place, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api":
		parts = parts[1:]
	case parts[0] == "apis":
		parts = parts[1:]
		if len(parts) > 0 {
			at.group, parts = parts[0], parts[1:]
		}
	default:
		return at, false
	}
	if len(parts) > 0 {
		at.version, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 && parts[0] == "watch" {
		at.watch, parts = true, parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !subresourceOfNamespaces[parts[2]] {
		at.namespace, parts = parts[1], parts[2:]
	}
	for _, field := range []*string{&at.resource, &at.name, &at.subresource} {
		if len(parts) > 0 {
			*field, parts = parts[0], parts[1:]
		}
	}
	if len(parts) > 0 {
		at.subresource += "/" + strings.Join(parts, "/")
	}
	return at, true
}

var subresourceOfNamespaces = map[string]bool{"status": true, "finalize": true}

// talksToContainer reports whether a path leads into a container of a pod.
func (at place) talksToContainer() bool {
	if at.group != "" || at.resource != "pods" {
		return false
	}
	sub, _, _ := strings.Cut(at.subresource, "/") // the rest is a path of whom a proxy leads to
	return sub == "exec" || sub == "attach" || sub == "portforward" || sub == "proxy"
}
