package deploy

import (
	"slices"
	"strings"
)

// Scope is what the names of a run's objects end with, where several runs share a cluster. It is in no name or uid that
// Kubernetes makes: what is read loses it wherever it stands. Empty for a run that has the names of its scenario.
type Scope string

// NewScope is the scope of the n-th run of a command that has drawn this text: hexadecimal digits, of which some are taken.
func NewScope(text string, n int) Scope {
	const digits, base = "ghijklmnopqrstuv", 16 // no uid has them
	return Scope("-z" + text[:4] + string(digits[n/base%base]) + string(digits[n%base]))
}

// Renamable are the resources without a namespace whose objects concern only those who name them.
var Renamable = []string{
	"namespaces", "storageclasses", "persistentvolumes", "csidrivers", "volumeattachments", "volumeattributesclasses",
	"volumesnapshotclasses", "volumesnapshotcontents",
}

// kept are the namespaces of every cluster.
var kept = []string{"", "kube-system", "kube-public", "kube-node-lease"}

// Name is a name in the cluster.
func (s Scope) Name(name string) string {
	if s == "" || name == "" || strings.HasSuffix(name, string(s)) {
		return name
	}
	return name + string(s)
}

// Namespace is a namespace in the cluster.
func (s Scope) Namespace(name string) string {
	if slices.Contains(kept, name) {
		return name
	}
	return s.Name(name)
}

// Has reports whether a name in the cluster is one of this scope.
func (s Scope) Has(name string) bool { return strings.HasSuffix(name, string(s)) }

// Plain is a text of the cluster as the scenario knows it.
func (s Scope) Plain(text string) string {
	if s == "" {
		return text
	}
	return strings.ReplaceAll(text, string(s), "")
}

// PlainFields takes the scope out of all strings in the fields of an object.
func (s Scope) PlainFields(value any) any {
	switch v := value.(type) {
	case string:
		return s.Plain(v)
	case []any:
		for i := range v {
			v[i] = s.PlainFields(v[i])
		}
	case map[string]any:
		for key, field := range v { // each on its own
			plain := s.PlainFields(field)
			if name := s.Plain(key); name != key {
				delete(v, key)
				key = name
			}
			v[key] = plain
		}
	}
	return value
}

// Fields puts the scope to the names in the fields of an object, or of a patch of one. drivers are those whose names it has.
func (s Scope) Fields(fields map[string]any, drivers []string) {
	if s == "" {
		return
	}
	for key, value := range fields { // each on its own
		switch v := value.(type) {
		case string:
			fields[key] = s.field(key, v, drivers)
		case map[string]any:
			switch key {
			case "labels", "annotations", "matchLabels":
			default:
				s.Fields(v, drivers)
			}
		case []any:
			for _, item := range v {
				if m, ok := item.(map[string]any); ok {
					s.Fields(m, drivers)
				}
			}
		}
	}
}

// field is what a field refers to, under the name that it has in the cluster.
func (s Scope) field(key, value string, drivers []string) string {
	switch key {
	case "provisioner", "driver", "driverName", "attacher":
		if slices.Contains(drivers, value) {
			return s.Name(value)
		}
	case "storageClassName", "volumeName", "persistentVolumeName", "volumeAttributesClassName", "volumeSnapshotClassName", "volumeSnapshotContentName":
		if !strings.HasPrefix(value, "pvc-") && !strings.HasPrefix(value, "snapcontent-") { // these the cluster has made
			return s.Name(value)
		}
	case "namespace":
		return s.Namespace(value)
	default:
		if strings.HasSuffix(key, "-secret-namespace") && !strings.Contains(value, "${") {
			return s.Namespace(value)
		}
	}
	return value
}
