package objects

import (
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// Tables reads the events in the output of kubectl describe and kubectl get events. Their times are
// relative to the collection.
type Tables struct {
	// Collected is the time of the collection.
	Collected time.Time

	kind, name, namespace string
}

var (
	describedRow = lazyregexp.New(`^\s*(Normal|Warning)\s+(\w+)\s+(<unknown>|[0-9dhmsy]+)(?: \(x(\d+) over ([0-9dhmsy]+)\))?\s+(\S+(?:,? \S+)?\s{2,}|\S+(?:, \S+)?\s+)(\S.*)$`)
	listedRow    = lazyregexp.New(`^(?:(\S+)\s+)?(<unknown>|[0-9dhmsy]+)(?: \(x(\d+) over ([0-9dhmsy]+)\))?\s+(Normal|Warning)\s+(\w+)\s+([\w.]+/\S+)\s+(\S.*)$`)
	heading      = lazyregexp.New(`^(Name|Namespace|Kind|Node|Claim|StorageClass|Containers|Provisioner):\s*(\S*)`)
)

// Row returns the event in a line. It returns false for any other line.
func (t *Tables) Row(line string) (f Fact, isEvent bool) {
	if found := heading().FindStringSubmatch(line); found != nil {
		t.head(found[1], found[2])
		return f, false
	}
	if found := describedRow().FindStringSubmatch(line); found != nil {
		return t.event(found[3], found[4], found[1], found[2], t.about(), found[6], found[7]), true
	}
	if found := listedRow().FindStringSubmatch(line); found != nil {
		return t.event(found[2], found[3], found[5], found[6], listedName(found[7], found[1]), "", found[8]), true
	}
	return f, false
}

// head notes the object that is described.
func (t *Tables) head(field, value string) {
	switch field {
	case "Name":
		*t = Tables{Collected: t.Collected, name: value, kind: "Pod"}
	case "Namespace":
		t.namespace = value
	case "Kind": // of custom resources
		t.kind = value
	case "StorageClass":
		if t.kind == "Pod" {
			t.kind = "PersistentVolumeClaim"
		}
	case "Claim":
		t.kind = "PersistentVolume"
	case "Provisioner":
		t.kind = "StorageClass"
	}
}

func (t *Tables) about() string {
	if t.name == "" {
		return ""
	}
	if t.namespace != "" && t.namespace != "default" {
		return t.kind + "/" + t.namespace + "/" + t.name
	}
	return t.kind + "/" + t.name
}

// listedName returns the name of an object in its form in events, from "pod/web".
func listedName(object, namespace string) string {
	kind, name, _ := strings.Cut(object, "/")
	for known := range resources { // in any order: names differ
		if strings.EqualFold(known, kind) {
			kind = known
		}
	}
	if namespace != "" && namespace != "default" {
		name = namespace + "/" + name
	}
	return kind + "/" + name
}

func (t *Tables) event(age, times, kind, reason, name, from, message string) Fact {
	count, err := strconv.Atoi(times)
	if err != nil {
		count = 1
	}
	from, node, _ := strings.Cut(strings.TrimSpace(from), ", ")
	return Fact{t.Collected.Add(-Age(age)), trace.Line{
		K: trace.KubeEvent, M: reason, Msg: message, R: kind, Name: name, From: from, Node: node, Obj: map[string]any{"count": count},
	}}
}

var ages = lazyregexp.New(`(\d+)([ydhms])`)

// units are the units of kubectl's ages.
var units = map[string]time.Duration{"y": 365 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}

// Age parses an age as kubectl prints it, such as "3m20s" or "2d".
func Age(text string) (d time.Duration) {
	for _, found := range ages().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.Atoi(found[1])
		d += time.Duration(n) * units[found[2]]
	}
	return d
}
