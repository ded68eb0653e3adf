package reenact

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
)

// taken holds the fields that a snapshot and a group of snapshots share.
type taken struct {
	// name is the name of the object with its namespace; "" if it is unknown.
	name, driver, class, policy string
	// isOld means that it existed before the story. Otherwise the story creates it at this time.
	isOld   bool
	madeAt  time.Duration
	deleted time.Duration // 0: it stays
	polls   int           // number of answers without readiness
}

func (t *taken) common() *taken { return t }

// entry finds the object with one of the names in known, or adds an old object to known and
// inOrder. Some names may be empty. It returns nil if all names are empty.
func entry[T interface {
	comparable
	common() *taken
}](known map[string]T, inOrder *[]T, keys []string, fresh func() T) (found T) {
	keys = slices.DeleteFunc(keys, func(key string) bool { return strings.HasSuffix(key, ":") })
	if len(keys) == 0 {
		return found
	}
	var none T
	for _, key := range keys {
		if found = known[key]; found != none {
			break
		}
	}
	if found == none {
		found = fresh()
		found.common().isOld = true
		*inOrder = append(*inOrder, found)
	}
	for _, key := range keys {
		known[key] = found
		if name, is := strings.CutPrefix(key, byObject); is {
			found.common().name = name
		}
	}
	return found
}

// begins records that the object is created during the story.
func (t *taken) begins(at time.Duration) {
	if t.isOld {
		t.isOld, t.madeAt = false, at
	}
}

func (t *taken) ends(at time.Duration) {
	if t.deleted == 0 {
		t.deleted = max(at, 1)
	}
}

func (t *taken) className() string { return cmp.Or(t.class, "imported") }

// classOf returns the class with a kind and API version. Its parameters come from the class with
// this name in the logs, which is recorded under the name with the prefix.
func (s *Story) classOf(t *taken, api, kind, prefix string) map[string]any {
	class := map[string]any{
		"apiVersion": api, "kind": kind, "metadata": map[string]any{"name": t.className()}, "driver": t.driver,
		"deletionPolicy": cmp.Or(t.policy, "Delete"),
	}
	if parameters := fields.At(s.cast.classes[prefix+t.className()], "parameters"); s.Command != nil && parameters != nil {
		class["parameters"] = parameters
	}
	return class
}

// object returns the object of a kind with a spec.
func (t *taken) object(api, kind string, spec map[string]any) map[string]any {
	namespace, name, _ := strings.Cut(t.name, "/")
	return map[string]any{
		"apiVersion": api, "kind": kind, "metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec,
	}
}

// steps returns the steps that make and delete the object at their times. kind is the name of its
// kind in a step. An old object is made before the story.
func (t *taken) steps(kind string, manifest map[string]any) (all []step) {
	namespace, name, _ := strings.Cut(t.name, "/")
	if !t.isOld {
		all = append(all, step{t.madeAt, 2, applied(manifest)})
	}
	if t.deleted > 0 {
		all = append(all, step{max(t.deleted, t.madeAt), 3, fmt.Sprintf("- delete: {%s: %s, namespace: %s}\n", kind, name, namespace)})
	}
	return all
}
