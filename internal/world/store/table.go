package store

import (
	"iter"
	"strings"
)

// row is one stored object. Rows are ordered by their ids, which begin with the resource: a resource is a range.
type row struct {
	id      string
	object  Object
	compact Compact // instead, if the resource is kept so
}

// table is all objects at one time.
type table = tree[row, *row]

func (r *row) compare(other *row) int { return strings.Compare(r.id, other.id) }
func (r *row) hash() uint64           { return mixed(noText, r.id) }
func (r *row) isGone() bool           { return r.object == nil && r.compact == nil }

func (r *row) stored() Object {
	if r.compact == nil {
		return r.object
	}
	_, name, _ := strings.Cut(r.id, "\x00") // what ends the resource
	return r.compact.Object(keyNamed(name))
}

// rows ranges in order over those whose ids have a prefix.
func rows(t *table, prefix string) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		t.walk(func(r *row) int {
			if strings.HasPrefix(r.id, prefix) {
				return 0
			}
			return strings.Compare(prefix, r.id)
		}, yield)
	}
}

// objectID is where the object is in the table: ordered by resource,
// then by "namespace/name" as in the API server's own storage.
func objectID(res *Resource, key Key) string {
	if key.Namespace == "" {
		return res.prefix + key.Name
	}
	return res.prefix + key.Namespace + "/" + key.Name
}
