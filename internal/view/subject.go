package view

import "strings"

// subject returns the object of a Kubernetes event. Events name its kind but not its namespace.
// Most objects are in the default namespace.
func subject(name string) key {
	kind, name, _ := strings.Cut(name, "/")
	resource := strings.ToLower(kind) + "s"
	if strings.HasSuffix(resource, "classs") {
		resource = strings.TrimSuffix(resource, "s") + "es"
	}
	if namespaced[resource] && !strings.Contains(name, "/") {
		name = "default/" + name
	}
	return key{resource, name}
}

var namespaced = map[string]bool{
	"pods": true, "persistentvolumeclaims": true, "volumesnapshots": true, "deployments": true, "statefulsets": true, "daemonsets": true,
	"replicasets": true, "jobs": true, "cronjobs": true, "volumegroupsnapshots": true,
}
