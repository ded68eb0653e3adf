package objects

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// AtTheEnd is the time of facts that describe the end of all logs.
var AtTheEnd = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)

// Fact is a line of a trace with its time.
type Fact struct {
	At   time.Time
	Line trace.Line
}

// state is an object at some time.
type state struct {
	at     time.Time
	fields map[string]any
}

// Story returns the changes of an object that was collected at the end, if the object contains
// their times. Its first line is the creation.
func Story(object map[string]any) []Fact {
	resource := resources[fields.Text(object, "kind")]
	name := nameOf(object)
	if resource == "" || fields.Text(object, "metadata", "name") == "" {
		return nil
	}
	created := timeAt(object, "metadata", "creationTimestamp")
	if created.IsZero() {
		created = AtTheEnd
	}
	last := copyOf(object)
	trace.Prune(resource, last)
	keepRelease(object, last)
	states := append([]state{{created, beginning(resource, last)}}, between(resource, object, last)...)
	states = append(states, state{AtTheEnd, last})
	slices.SortStableFunc(states[1:len(states)-1], func(a, b state) int { return a.at.Compare(b.at) })
	return factsOf(resource, name, states)
}

// keepRelease keeps the release of a node's kubelet. Traces of runs do not contain it.
func keepRelease(object, pruned map[string]any) {
	status, isNode := pruned["status"].(map[string]any)
	if release := fields.Text(object, "status", "nodeInfo", "kubeletVersion"); isNode && release != "" {
		status["kubeletVersion"] = release
	}
}

// factsOf returns the creation of an object and its changes. The states between hold only the
// fields that change.
func factsOf(resource, name string, states []state) []Fact {
	now := states[0].fields
	facts := []Fact{{states[0].at, trace.Line{K: trace.API, Ev: "ADDED", R: resource, Name: name, Obj: now}}}
	for i, s := range states[1:] {
		next := s.fields
		if i < len(states)-2 {
			next = merged(copyOf(now), s.fields)
		}
		if patch := trace.MergePatch(now, next); patch != nil {
			facts = append(facts, Fact{s.at, trace.Line{K: trace.API, Ev: "MODIFIED", R: resource, Name: name, Patch: patch}})
		}
		now = next
	}
	return facts
}

// merged adds fields to an object.
func merged(object, fields map[string]any) map[string]any {
	for key, value := range fields { // in any order: keys differ
		inner, isObject := value.(map[string]any)
		before, was := object[key].(map[string]any)
		if isObject && was {
			object[key] = merged(before, inner)
			continue
		}
		object[key] = value
	}
	return object
}

// beginning returns an object in its first version, without its status and its deletion.
func beginning(resource string, last map[string]any) map[string]any {
	first := copyOf(last)
	delete(first, "status")
	if meta, ok := first["metadata"].(map[string]any); ok {
		delete(meta, "deletionTimestamp")
		delete(meta, "deletionGracePeriodSeconds")
	}
	if spec, ok := first["spec"].(map[string]any); ok && resource == "pods" {
		delete(spec, "nodeName")
	}
	return first
}

// between returns the changes with a known time: a pod's node and conditions, errors of an
// attachment, and the deletion.
func between(resource string, object, last map[string]any) (states []state) {
	if deleted := timeAt(object, "metadata", "deletionTimestamp"); !deleted.IsZero() {
		grace, _ := number(fields.At(object, "metadata", "deletionGracePeriodSeconds"))
		requested := deleted.Add(-time.Duration(grace) * time.Second)
		states = append(states, state{requested, map[string]any{"metadata": map[string]any{"deletionTimestamp": fields.Text(object, "metadata", "deletionTimestamp")}}})
	}
	switch resource {
	case "pods":
		states = append(states, conditions(object, last)...)
	case "volumeattachments":
		for _, field := range []string{"attachError", "detachError"} {
			if failed := timeAt(object, "status", field, "time"); !failed.IsZero() {
				states = append(states, state{failed, map[string]any{"status": map[string]any{field: fields.At(object, "status", field)}}})
			}
		}
	}
	return states
}

// conditions returns the changes of a pod's conditions.
func conditions(pod, last map[string]any) (states []state) {
	for _, c := range fields.List(pod, "status", "conditions") {
		since, kind := timeAt(c, "lastTransitionTime"), fields.Text(c, "type")
		if since.IsZero() {
			continue
		}
		change := map[string]any{"status": map[string]any{"conditions": map[string]any{kind: fields.At(last, "status", "conditions", kind)}}}
		if kind == "PodScheduled" && fields.Text(c, "status") == "True" {
			change["spec"] = map[string]any{"nodeName": fields.At(pod, "spec", "nodeName")}
		}
		states = append(states, state{since, change})
	}
	return states
}

func timeAt(object map[string]any, path ...string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, fields.Text(object, path...))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// number returns a number of JSON or YAML.
func number(value any) (int64, bool) {
	switch n := value.(type) {
	case float64:
		return int64(n), true
	case int64:
		return n, true
	case json.Number:
		i, err := n.Int64()
		return i, err == nil
	}
	return 0, false
}

// copyOf copies the objects within an object; values are shared.
func copyOf(object map[string]any) map[string]any {
	copied := maps.Clone(object)
	for key, value := range copied { // in any order: keys differ
		if inner, ok := value.(map[string]any); ok {
			copied[key] = copyOf(inner)
		}
	}
	return copied
}

// EventFacts returns the first and the last emission of an Event.
func EventFacts(object map[string]any) []Fact {
	involved, _ := cmp.Or(fields.At(object, "involvedObject"), fields.At(object, "regarding")).(map[string]any)
	message := cmp.Or(fields.Text(object, "message"), fields.Text(object, "note"))
	count, _ := number(cmp.Or(fields.At(object, "count"), fields.At(object, "series", "count"), fields.At(object, "deprecatedCount")))
	line := trace.Line{
		K: trace.KubeEvent, M: fields.Text(object, "reason"), Msg: message, R: fields.Text(object, "type"), Name: eventName(involved),
		From: cmp.Or(fields.Text(object, "source", "component"), fields.Text(object, "reportingComponent"), fields.Text(object, "reportingController"), fields.Text(object, "deprecatedSource", "component")),
		Node: cmp.Or(fields.Text(object, "source", "host"), fields.Text(object, "deprecatedSource", "host")),
	}
	first := earliest(timeAt(object, "firstTimestamp"), timeAt(object, "eventTime"), timeAt(object, "deprecatedFirstTimestamp"), timeAt(object, "metadata", "creationTimestamp"))
	last := latest(first, timeAt(object, "lastTimestamp"), timeAt(object, "series", "lastObservedTime"), timeAt(object, "deprecatedLastTimestamp"))
	if last.IsZero() {
		return nil
	}
	count = max(count, 1)
	facts := []Fact{}
	if count > 1 && first.Before(last) {
		line.Obj = map[string]any{"count": 1}
		facts = append(facts, Fact{first, line})
	}
	line.Obj = map[string]any{"count": count}
	return append(facts, Fact{last, line})
}

// eventName returns the name of an object in events: its kind, its namespace unless it is the
// default one, and its name.
func eventName(involved map[string]any) string {
	name := fields.Text(involved, "name")
	if namespace := fields.Text(involved, "namespace"); namespace != "" && namespace != "default" {
		name = namespace + "/" + name
	}
	return fields.Text(involved, "kind") + "/" + name
}

func earliest(times ...time.Time) (found time.Time) {
	for _, t := range times {
		if !t.IsZero() && (found.IsZero() || t.Before(found)) {
			found = t
		}
	}
	return found
}

func latest(times ...time.Time) (found time.Time) {
	for _, t := range times {
		if t.After(found) {
			found = t
		}
	}
	return found
}

// PodNode returns the name of a pod, with its namespace, and the pod's node; both are empty for
// another object.
func PodNode(object map[string]any) (pod, node string) {
	if fields.Text(object, "kind") != "Pod" {
		return "", ""
	}
	return nameOf(object), fields.Text(object, "spec", "nodeName")
}

// Identity returns the name and the uid of an object that exists as long as its cluster: a Node, or
// a namespace of Kubernetes. It is empty for others.
func Identity(object map[string]any) (name, uid string) {
	kind := fields.Text(object, "kind")
	if kind != "Node" && (kind != "Namespace" || fields.Text(object, "metadata", "name") != "kube-system") {
		return "", ""
	}
	return kind + " " + fields.Text(object, "metadata", "name"), fields.Text(object, "metadata", "uid")
}
