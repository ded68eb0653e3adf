package view

import (
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// object holds the texts at some paths of an object, for the columns. The zero value has none.
type object struct {
	names  []string // names of the paths; the same for all objects of a resource
	values []string // empty if there is no value; true, false and lists are in JSON
}

// looked are the paths of interest, by resource.
var looked = pathsOf(map[string]string{
	"":                       "",
	"pods":                   "metadata.uid spec.nodeName status.container status.restarts status.conditions.Ready",
	"persistentvolumeclaims": "metadata.uid spec.volumeName spec.storageClassName status.capacity.storage",
	"persistentvolumes":      "spec.claimRef.namespace spec.claimRef.name spec.capacity.storage spec.csi.volumeHandle",
	"volumeattachments":      "spec.nodeName spec.source.persistentVolumeName status.attached status.attachError.message status.detachError.message",
	"nodes":                  "status.Ready",
	"csinodes":               "spec.drivers",
	"csidrivers":             "spec.attachRequired",
	"volumesnapshots":        "status.readyToUse status.error.message",
	"volumesnapshotcontents": "status.readyToUse status.error.message",
})

// paths are looked up in an object by their names.
type paths struct {
	names  []string
	fields [][]string
}

func pathsOf(byResource map[string]string) map[string]*paths {
	all := map[string]*paths{}
	for resource, names := range byResource {
		p := &paths{names: append(strings.Fields(names), "metadata.deletionTimestamp", "status.phase")}
		for _, name := range p.names {
			p.fields = append(p.fields, strings.Split(name, "."))
		}
		all[resource] = p
	}
	return all
}

// text returns the text at a path.
func (o object) text(path string) string {
	at := slices.Index(o.names, path)
	if at < 0 {
		return ""
	}
	return o.values[at]
}

// revision is the content of a line about an object: the whole object, or a change.
type revision struct {
	object
	said []bool // the paths that the line contains
}

// revisionOf reads a revision from an object or a merge patch (RFC 7386).
func revisionOf(resource string, from *fastjson.Value) revision {
	p := looked[resource]
	if p == nil {
		p = looked[""]
	}
	r := revision{object{p.names, make([]string, len(p.names))}, make([]bool, len(p.names))}
	for i, fields := range p.fields {
		r.values[i], r.said[i] = valueAt(from, fields)
	}
	return r
}

// valueAt returns the value at a path (empty if it is removed), and whether the line contains the
// path.
func valueAt(from *fastjson.Value, fields []string) (value string, isSaid bool) {
	for _, name := range fields {
		if from.Type() != fastjson.TypeObject {
			return "", true // the line replaces an object by another value
		}
		if from = from.Get(name); from == nil {
			return "", false
		}
	}
	switch from.Type() {
	case fastjson.TypeNull:
		return "", true
	case fastjson.TypeString:
		return string(from.GetStringBytes()), true
	}
	return string(from.MarshalTo(nil)), true
}

// revised returns an object after a change. It does not change the object.
func (o object) revised(by revision) object {
	if o.names == nil {
		return by.object
	}
	var values []string
	for i, said := range by.said {
		if said && o.values[i] != by.values[i] {
			if values == nil {
				values = slices.Clone(o.values)
			}
			values[i] = by.values[i]
		}
	}
	if values == nil {
		return o
	}
	return object{o.names, values}
}
