package apiserver

import "strings"

// requestInfo holds the parts of a path: a group and version, a resource in it, an object, a
// subresource. Missing parts are empty.
type requestInfo struct {
	apiGroup, apiVersion                   string
	namespace, resource, name, subresource string
	// proxied is the path for a proxied server, from its first slash on.
	proxied string
	// watch is set for a path of the old form, /api/v1/watch/….
	watch bool
}

// newRequestInfo parses a path below /api and /apis.
func newRequestInfo(path string) (info requestInfo, ok bool) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case parts[0] == "api":
		parts = parts[1:]
	case parts[0] == "apis":
		parts = parts[1:]
		if len(parts) > 0 {
			info.apiGroup, parts = parts[0], parts[1:]
		}
	default:
		return info, false
	}
	if len(parts) > 0 {
		info.apiVersion, parts = parts[0], parts[1:]
	}
	if len(parts) > 0 && parts[0] == "watch" {
		info.watch, parts = true, parts[1:]
	}
	if len(parts) > 2 && parts[0] == "namespaces" && !namespaceSubresources[parts[2]] {
		info.namespace, parts = parts[1], parts[2:]
	}
	for _, field := range []*string{&info.resource, &info.name, &info.subresource} {
		if len(parts) > 0 {
			*field, parts = parts[0], parts[1:]
		}
	}
	switch rest := strings.Join(parts, "/"); {
	case info.subresource == proxySubresource:
		info.proxied = "/" + rest
	case len(parts) > 0:
		info.subresource += "/" + rest
	}
	return info, true
}

// proxySubresource leads to another server, which interprets its paths.
const proxySubresource = "proxy"

var namespaceSubresources = map[string]bool{"status": true, "finalize": true}
