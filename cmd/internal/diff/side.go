package diff

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// side is one of the two traces, prepared for comparison.
type side struct {
	lines      []trace.Line
	names      *identities
	normalised int // the number of strings with names that this run generated
	allowed    map[Tolerance]int

	initial  map[object]map[string]any // by the first step
	hasStart bool                      // the initial objects are known
	block    bool                      // some volume is a raw block volume
	staged   map[string]bool           // drivers that stage file systems
	abridged bool                      // stored without the lines of the tolerance Abridged
	records  bool                      // nodes and pods exist only as API objects, see setUpDone
	mixed    bool                      // compared with the other kind of trace

	calls    []*call
	changes  []*change
	events   []*event
	listings []*listing
	requests []*request
	triggers map[string][]trigger // by volume
}

// object is an API object by its role.
type object struct{ resource, name string }

// String formats the object for readers.
func (o object) String() string { return singular(o.resource) + " " + o.name }

// change is one change of an API object.
type change struct {
	at      int64
	object  object
	how     string // ADDED, MODIFIED, DELETED
	content map[string]any
	line    trace.Line
	text    string   // the cached result of String
	named   []string // the cached result of fields
}

// event is one emission of a Kubernetes Event.
type event struct {
	at                             int64
	about, source                  string
	kind, reason, message, counted string
}

// listing lists the files on a node's disk at one point.
type listing struct {
	at           int64
	node, moment string
	raw          []string
}

// request is a request of a kubelet to the runtime for a pod.
type request struct {
	at              int64
	pod, node, what string
}

// outOfRepeats are the events of the tolerance Abridged.
var outOfRepeats = map[string]bool{
	"Pulled": true, "Created": true, "Started": true, "Killing": true, "Provisioning": true, "ExternalProvisioning": true,
}

// watched are the resources in recordings.
var watched = map[string]bool{
	"csidrivers": true, "csinodes": true, "nodes": true, "persistentvolumeclaims": true, "persistentvolumes": true, "pods": true,
	"storageclasses": true, "volumeattachments": true, "volumesnapshots": true, "volumesnapshotcontents": true,

	"csiaddonsnodes": true, "reclaimspacejobs": true, "reclaimspacecronjobs": true, "encryptionkeyrotationjobs": true,
	"encryptionkeyrotationcronjobs": true, "networkfences": true, "networkfenceclasses": true, "volumereplications": true,
	"volumereplicationclasses": true, "volumegroupreplications": true, "volumegroupreplicationclasses": true,
	"volumegroupreplicationcontents": true, "leases": true,
}

// numbered reports whether csisim made the trace: recordings have no numbers.
func numbered(lines []trace.Line) bool {
	return slices.ContainsFunc(lines, func(l trace.Line) bool { return l.Seq > 0 })
}

// newSide reads a trace. mixed means that only one of the two traces is a recording.
func newSide(lines []trace.Line, mixed bool) *side {
	s := &side{allowed: map[Tolerance]int{}, initial: map[object]map[string]any{}, records: setUpEnd(lines) >= 0, mixed: mixed}
	lines = s.withoutRounds(withoutVersions(lines))
	s.names = discover(lines)
	s.abridged = isAbridged(lines)
	s.block = slices.ContainsFunc(lines, func(l trace.Line) bool { return has(l.Req, "volume_capability", "block") })
	s.lines = lines
	s.staged = stagingDrivers(lines)
	lines = s.start(lines)
	number := callsIn(s.lines) - callsIn(lines) // the lines that are left out precede the rest
	for i, l := range lines {
		switch l.K {
		case trace.Call:
			s.call(i, number, l)
			number++
		case trace.API:
			s.change(l)
		case trace.KubeEvent, trace.Runtime:
			if s.records && (l.K == trace.Runtime || strings.HasPrefix(l.Name, "Pod/") || strings.HasPrefix(l.Name, "Node/")) {
				s.allow(NotCompared, "") // pods and nodes are records
				continue
			}
			if l.K == trace.Runtime {
				s.requests = append(s.requests, &request{l.T, s.names.in(l.Name), l.Node, strings.TrimSpace(l.M + " " + compact(s.normal(l.Obj)))})
				continue
			}
			s.event(l)
		case trace.Files:
			s.listing(l)
		case trace.Waits, trace.CacheUpdated, trace.Kept: // a real cluster's trace has no states
		default:
			s.allow(NotCompared, "")
		}
	}
	s.triggers = s.findTriggers(lines)
	return s
}

// withoutVersions returns the lines without the versions that made the recording.
func withoutVersions(lines []trace.Line) []trace.Line {
	if len(lines) > 0 && lines[0].K == trace.MadeWith {
		return lines[1:]
	}
	return lines
}

func callsIn(lines []trace.Line) (n int) {
	for _, l := range lines {
		if l.K == trace.Call {
			n++
		}
	}
	return n
}

// stagingDrivers returns the drivers that receive a staging path for a file system.
func stagingDrivers(lines []trace.Line) map[string]bool {
	drivers := map[string]bool{}
	for _, l := range lines {
		_, below, ok := strings.Cut(text(l.Req, "staging_target_path"), "/"+stagingDirs)
		if driver, _, _ := strings.Cut(below, "/"); ok {
			drivers[driver] = true
		}
	}
	return drivers
}

// allow counts a use of a tolerance. The example helps readers of the code.
func (s *side) allow(t Tolerance, _ string) { s.allowed[t]++ }

func isAbridged(lines []trace.Line) bool {
	setUp := setUpEnd(lines) >= 0
	for _, l := range lines {
		if l.Ev == "INIT" || setUp || l.M == "Node/NodeGetCapabilities" || l.K == trace.KubeEvent && outOfRepeats[l.M] {
			return false
		}
		if l.Seq > 0 {
			return false
		}
	}
	return true
}

// start removes the lines of the initial state: INIT lines, and lines before the first step. If a
// trace has no steps, it removes the lines before the first new object that has an effect in a
// cluster.
func (s *side) start(lines []trace.Line) []trace.Line {
	first := 0
	for first < len(lines) && lines[first].K != trace.Step {
		first++
	}
	if first == len(lines) {
		first = 0 // a trace without steps
	}
	if acts := slices.IndexFunc(lines[:first], actsOn); acts >= 0 {
		first = acts
	}
	if done := setUpEnd(lines); done > 0 {
		first = done
	}
	var rest []trace.Line
	for i, l := range lines {
		switch {
		case l.K == trace.API && (!watched[l.R] || s.records && ofRecord[l.R]):
			s.allow(NotCompared, "")
		case l.K == trace.API && l.Ev == "INIT", i < first && l.K == trace.API:
			// Only simulated traces have numbers.
			s.hasStart = s.hasStart || l.Ev == "INIT" || l.Seq > 0
			s.apply(l)
			if l.Ev != "INIT" {
				s.allow(Setup, "")
			}
		case i < first:
			s.allow(Setup, "")
		default:
			rest = append(rest, l)
		}
	}
	return rest
}

// acted lists the resources with new objects that have an effect in a cluster.
var acted = map[string]bool{"persistentvolumes": true, "persistentvolumeclaims": true, "pods": true}

// actsOn reports whether a line is a new object that has an effect: for example, a claim gets its
// volume before a real client has applied the next object.
func actsOn(l trace.Line) bool {
	if l.K != trace.API || l.Ev != "ADDED" || !acted[l.R] {
		return false
	}
	return text(l.Obj, "status", "phase") == "Pending" && text(l.Obj, "spec", "volumeName") == "" && text(l.Obj, "spec", "nodeName") == ""
}

// apply updates the initial state with a change.
func (s *side) apply(l trace.Line) {
	o := object{l.R, s.names.in(l.Name)}
	switch l.Ev {
	case "DELETED":
		delete(s.initial, o)
	case "MODIFIED":
		s.initial[o] = merged(s.initial[o], s.normalFields(l.Patch))
	default:
		content, _ := l.Obj.(map[string]any)
		s.initial[o] = s.normalFields(content)
	}
}

// merged returns an object after a JSON merge patch. Neither argument is changed.
func merged(before, patch map[string]any) map[string]any {
	after := map[string]any{}
	for _, key := range sortedKeys(before) {
		after[key] = before[key]
	}
	for _, key := range sortedKeys(patch) {
		inner, isMap := patch[key].(map[string]any)
		switch was, wasMap := after[key].(map[string]any); {
		case patch[key] == nil:
			delete(after, key)
		case isMap && wasMap:
			after[key] = merged(was, inner)
		case isMap:
			after[key] = merged(nil, inner)
		default:
			after[key] = patch[key]
		}
	}
	return after
}

func (s *side) change(l trace.Line) {
	c := &change{at: l.T, object: object{l.R, s.names.in(l.Name)}, how: l.Ev, line: l}
	switch l.Ev {
	case "MODIFIED":
		c.content = s.normalFields(l.Patch)
	case "DELETED":
	default:
		content, _ := l.Obj.(map[string]any)
		c.content = s.normalFields(content)
	}
	s.changes = append(s.changes, c)
}

func (s *side) listing(l trace.Line) {
	files := &listing{at: l.T, node: l.Node, moment: l.Msg}
	for _, entry := range list(l.Obj) {
		if path, ok := entry.(string); ok {
			files.raw = append(files.raw, path)
		}
	}
	s.listings = append(s.listings, files)
}
