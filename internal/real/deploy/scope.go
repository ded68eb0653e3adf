package deploy

import (
	"slices"
	"strings"
)

// Scope is a suffix of the names of a run's objects on a shared cluster. No name or uid of
// Kubernetes contains it, so it can be removed from any text. It is empty for a run that uses the
// names of its scenario.
type Scope string

// NewScope returns the scope of the n-th run of a command, with some digits of a random hexadecimal
// text.
func NewScope(text string, n int) Scope {
	const digits, base = "ghijklmnopqrstuv", 16 // UIDs never contain these digits
	return Scope("-z" + text[:4] + string(digits[n/base%base]) + string(digits[n%base]))
}

// Renamable are cluster-scoped resources. Their objects affect only objects that name them.
var Renamable = []string{
	"namespaces", "storageclasses", "persistentvolumes", "csidrivers", "volumeattachments", "volumeattributesclasses",
	"volumesnapshotclasses", "volumesnapshotcontents",
}

// kept are the namespaces that every cluster has, and that are not renamed.
var kept = []string{"", "kube-system", "kube-public", "kube-node-lease"}

// Name returns a name in the cluster.
func (s Scope) Name(name string) string {
	if s == "" || name == "" || strings.HasSuffix(name, string(s)) {
		return name
	}
	return name + string(s)
}

// Namespace returns a namespace in the cluster.
func (s Scope) Namespace(name string) string {
	if slices.Contains(kept, name) {
		return name
	}
	return s.Name(name)
}

// Has reports whether a name in the cluster has this scope.
func (s Scope) Has(name string) bool { return strings.HasSuffix(name, string(s)) }

// Plain removes the scope from a text of the cluster.
func (s Scope) Plain(text string) string {
	if s == "" {
		return text
	}
	return strings.ReplaceAll(text, string(s), "")
}

// PlainFields removes the scope from all strings in the fields of an object.
func (s Scope) PlainFields(value any) any {
	switch v := value.(type) {
	case string:
		return s.Plain(v)
	case []any:
		for i := range v {
			v[i] = s.PlainFields(v[i])
		}
	case map[string]any:
		for key, field := range v { // the order has no effect
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

// Fields adds the scope to the names in the fields of an object, or of a patch. drivers are the
// renamed drivers.
func (s Scope) Fields(fields map[string]any, drivers []string) {
	if s == "" {
		return
	}
	for key, value := range fields { // the order has no effect
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

// field returns a reference in a field, under its name in the cluster.
func (s Scope) field(key, value string, drivers []string) string {
	switch key {
	case "provisioner", "driver", "driverName", "attacher":
		if slices.Contains(drivers, value) {
			return s.Name(value)
		}
	case "storageClassName", "volumeName", "persistentVolumeName", "volumeAttributesClassName", "volumeSnapshotClassName", "volumeSnapshotContentName":
		// The cluster has generated these names.
		if !strings.HasPrefix(value, "pvc-") && !strings.HasPrefix(value, "snapcontent-") {
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
