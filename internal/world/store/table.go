package store

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-memdb"
)

// objectsTable holds all objects, sorted by their id. The id begins with the resource, so a
// resource is a range of the table, and new kinds need no new table.
const objectsTable = "objects"

// row is one stored object.
type row struct {
	id      string
	object  Object
	compact Compact // instead, if the resource has a compact form
}

func (r *row) isGone() bool { return r.object == nil && r.compact == nil }

func (r *row) stored() Object {
	if r.compact == nil {
		return r.object
	}
	_, name, _ := strings.Cut(r.id, "\x00") // the separator after the resource
	return r.compact.Object(keyNamed(name))
}

// emptyDatabase is the database from which every store copies its initial state. It is never
// written.
var emptyDatabase = newDatabase()

func newDatabase() *memdb.MemDB {
	db, err := memdb.NewMemDB(&memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
		objectsTable: {Name: objectsTable, Indexes: map[string]*memdb.IndexSchema{
			"id": {Name: "id", Unique: true, Indexer: byID{}},
		}},
	}})
	must(err)
	return db
}

// byID indexes rows by their id.
type byID struct{}

func (byID) FromObject(raw any) (bool, []byte, error) {
	r, ok := raw.(*row)
	if !ok {
		return false, nil, fmt.Errorf("%T is not a row of the objects table", raw)
	}
	return true, []byte(r.id), nil
}

func (byID) FromArgs(args ...any) ([]byte, error) {
	return []byte(args[0].(string)), nil
}

func (byID) PrefixFromArgs(args ...any) ([]byte, error) {
	return []byte(args[0].(string)), nil
}

// objectID returns the object's id in the objects table: sorted by resource, then by
// "namespace/name" like the API server's own storage.
func objectID(res *Resource, key Key) string {
	if key.Namespace == "" {
		return res.prefix + key.Name
	}
	return res.prefix + key.Namespace + "/" + key.Name
}
