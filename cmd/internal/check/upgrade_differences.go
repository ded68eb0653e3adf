package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
)

// Difference is a difference between two releases that can concern existing volumes.
type Difference struct {
	// What is the name of the value, such as "node id of node-a".
	What string `json:"what"`
	// Old and New are the values; empty for none.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Concerns names the objects of a cluster that the difference can break; empty if it breaks
	// none.
	Concerns string `json:"concerns,omitempty"`
}

// The objects that a difference concerns.
const (
	oldNodeIDs   = "existing attachments, which have the old node id"
	oldPlaces    = "existing PersistentVolumes with the old topology in their node affinity: their pods can stay Pending"
	lostFeatures = "existing volumes that use them"
	oldContexts  = "existing PersistentVolumes and attachments, which have the old keys"
	fewerVolumes = "nodes with more volumes"
	immutable    = "the CSIDriver object, which has to be deleted and created: Kubernetes refuses the change"
)

// Differences compares the answers of both releases.
func (u *Upgrade) Differences() (all []Difference) {
	differ := func(what, old, new, concerns string) {
		if old != new {
			all = append(all, Difference{what, old, new, concerns})
		}
	}
	differ("version", u.Old.Version, u.New.Version, "")
	for _, service := range u.services() {
		differ("lost capabilities, "+service.name, strings.Join(without(service.old, service.new), " "), "", lostFeatures)
		differ("new capabilities, "+service.name, "", strings.Join(without(service.new, service.old), " "), "")
	}
	for _, node := range slices.Sorted(maps.Keys(u.Old.nodeIDs)) {
		differ("node id of "+node, u.Old.nodeIDs[node], u.New.nodeIDs[node], oldNodeIDs)
		differ("topology of "+node, u.Old.places[node], u.New.places[node], oldPlaces)
	}
	limit := ""
	if most := u.New.MaxVolumes; most > 0 && (u.Old.MaxVolumes == 0 || u.Old.MaxVolumes > most) {
		limit = fewerVolumes
	}
	differ("volumes per node", atMost(u.Old.MaxVolumes), atMost(u.New.MaxVolumes), limit)
	differ("keys of volume_context", keysOf(u.Old.volumeContext), keysOf(u.New.volumeContext), oldContexts)
	differ("keys of publish_context", keysOf(u.Old.publishContext), keysOf(u.New.publishContext), oldContexts)
	old, new := fieldsOf(u.Old.subject.CSIDriver), fieldsOf(u.New.subject.CSIDriver)
	for _, field := range slices.Compact(slices.Sorted(slices.Values(append(slices.Collect(maps.Keys(old)), slices.Collect(maps.Keys(new))...)))) {
		concerns := ""
		if field == "attachRequired" || field == "volumeLifecycleModes" { // K-CFG-6
			concerns = immutable
		}
		differ("CSIDriver "+field, old[field], new[field], concerns)
	}
	return all
}

// fieldsOf returns the fields that a CSIDriver object sets, as JSON.
func fieldsOf(spec *storagev1.CSIDriverSpec) map[string]string {
	text, err := json.Marshal(spec)
	var fields map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &fields) != nil {
		return nil
	}
	values := map[string]string{}
	for name, value := range fields {
		values[name] = strings.Trim(string(value), `"`)
	}
	return values
}

// offered has the capabilities of a service in both releases.
type offered struct {
	name     string
	old, new []string
}

func (u *Upgrade) services() []offered {
	return []offered{
		{"plugin", u.Old.Plugin, u.New.Plugin}, {"controller", u.Old.Controller, u.New.Controller},
		{"group", u.Old.Group, u.New.Group}, {"node", u.Old.Node, u.New.Node},
	}
}

// without returns the names that are not in others.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(others, n) })
}

func keysOf(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }

func atMost(volumes int64) string {
	if volumes == 0 {
		return "no limit"
	}
	return fmt.Sprint(volumes)
}
