package expect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// maxTrail is the number of events that a failure shows.
const maxTrail = 9

// trail returns the short story that ends with an event: the chain of its causes from the
// beginning, and events of the same volume.
func trail(all []*trace.Event, last *trace.Event, names *calls.Names) []*trace.Event {
	if last == nil {
		return nil
	}
	chosen := map[*trace.Event]bool{last: true}
	alike := series{alikeness(last): 1}
	volume := names.About(last)
	for _, e := range causes(all, last) {
		// The remaining places are for faults, and for calls that caused nothing.
		if len(chosen) < maxTrail-maxAlike && isNews(e) && (volume == "" || !isOfNode(e)) {
			alike.choose(e, chosen)
		}
	}
	for i := len(all) - 1; i >= 0 && len(chosen) < maxTrail; i-- {
		e := all[i]
		if e.Seq >= last.Seq || chosen[e] || !isOf(volume, e, names) {
			continue
		}
		alike.choose(e, chosen)
	}
	var story []*trace.Event
	for _, e := range all {
		if chosen[e] {
			story = append(story, e)
		}
	}
	return story
}

// maxAlike bounds the failures of one call in a story. The events before them are more useful than
// a dozen equal failures. A warning counts its own repetitions, so the story has only the last
// warning.
const maxAlike = 3

// series counts the events of a story that are alike.
type series map[string]int

// choose adds an event to the story, unless the story already has enough similar events.
func (s series) choose(e *trace.Event, chosen map[*trace.Event]bool) {
	most := maxAlike
	if e.Kind == trace.KubeEvent {
		most = 1
	}
	key := alikeness(e)
	if s[key]++; key == "" || s[key] <= most {
		chosen[e] = true
	}
}

// alikeness returns the same text for calls with the same failure, and for repetitions of one
// warning. It returns "" for all other events.
func alikeness(e *trace.Event) string {
	if e.Kind == trace.KubeEvent && IsWarning(e) {
		return e.Method + " " + e.Name
	}
	if e.Kind != trace.Call || calls.Result(e) == "OK" {
		return ""
	}
	return e.Method + " " + e.Code
}

// causes follows the links back from an event, the nearest cause first.
func causes(all []*trace.Event, last *trace.Event) []*trace.Event {
	var found []*trace.Event
	for e := last; e.Cause != 0 && e.Cause < e.Seq; {
		at, ok := slices.BinarySearchFunc(all, e.Cause, func(e *trace.Event, seq uint64) int {
			return int(int64(e.Seq) - int64(seq))
		})
		if !ok {
			break // long forgotten
		}
		e = all[at]
		found = append(found, e)
	}
	return found
}

// isNews reports whether an event belongs in a story; readers expect the others anyway.
func isNews(e *trace.Event) bool {
	switch e.Kind {
	case trace.FileChange, trace.SystemCall, trace.Request, trace.Files, trace.ChoiceMade:
		return false
	case trace.API:
		return e.Resource != "leases" && e.Resource != "events" && e.Resource != "nodes"
	case trace.Call:
		return !calls.IsAsking(e)
	}
	return true
}

// isOfNode reports whether an event is about the start of a node. All later events there follow
// from it, so it explains little.
func isOfNode(e *trace.Event) bool {
	return e.Kind == trace.API && e.Resource == "csinodes" || e.Kind == trace.KubeEvent && strings.HasPrefix(e.Name, "Node/")
}

// isOf reports whether an event belongs to the story of a volume: a call or warning about it, or
// any fault or crash.
func isOf(volume string, e *trace.Event, names *calls.Names) bool {
	switch e.Kind {
	case trace.FaultFired:
		return true
	case trace.Call:
		return volume != "" && !calls.IsAsking(e) && names.About(e) == volume
	case trace.KubeEvent:
		return volume != "" && IsWarning(e) && names.About(e) == volume
	}
	return false
}

// EventLine formats an event in one line: its time, its actor and its content.
func EventLine(e *trace.Event, names *calls.Names) string {
	at := fmt.Sprintf("%10.3fs  ", e.At.Seconds())
	switch e.Kind {
	case trace.Call:
		return at + strings.TrimSpace(strings.TrimPrefix(names.Line(e), strings.TrimSpace(at)))
	case trace.API:
		return at + program(e.Actor) + "  " + strings.ToLower(e.Change) + " " + e.Resource + " " + e.Name
	case trace.KubeEvent:
		return at + e.Actor + "  event " + e.Method + " " + e.Name + ": " + firstLine(e.Message)
	}
	if e.Kind == trace.AnswerLost {
		return at + e.Actor + "  never gets the answer of " + e.Message
	}
	return at + strings.TrimSpace(string(e.Kind)+" "+e.Actor+" "+e.Node+" "+e.Method+" "+firstLine(e.Message))
}

// program returns the part of a process's name that identifies its program.
func program(actor string) string {
	name, rest, _ := strings.Cut(actor, "/")
	if node, _, _ := strings.Cut(rest, "/"); name == "kubelet" && node != "" {
		return name + " " + node
	}
	return cmp.Or(name, "scenario")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// lastOf returns the newest event of the kind.
func (ev *Evidence) lastOf(is func(*trace.Event) bool) *trace.Event {
	all := ev.recorder.Events()
	for i := len(all) - 1; i >= 0; i-- {
		if is(all[i]) {
			return all[i]
		}
	}
	return nil
}

// LastAbout returns the newest event about the objects: a Kubernetes event about one of the
// objects, or a call about its volume. If there is no such event, it returns the last change of one
// of the objects.
func (ev *Evidence) LastAbout(ref Reference) *trace.Event {
	about := ev.connected(ref)
	isAbout := func(e *trace.Event) bool {
		switch e.Kind {
		case trace.KubeEvent:
			return about[e.Name]
		case trace.Call:
			return !calls.IsAsking(e) && about["volume "+ev.Names.Volume(e)]
		}
		return false
	}
	e := ev.lastOf(isAbout)
	if failing := ev.failing(ref, about); failing != nil && (e == nil || !IsWarning(e)) {
		// Other events of the object in between are less useful; a warning reports the failure
		// itself.
		return failing
	}
	if e != nil {
		return e
	}
	return ev.lastOf(func(e *trace.Event) bool { return e.Kind == trace.API && about[e.Resource+" "+e.Name] })
}

// failing returns the newest failed call about the objects' volumes, if the last call about the
// same volume failed. The objects wait for that call, even if other events report another reason.
func (ev *Evidence) failing(ref Reference, about map[string]bool) *trace.Event {
	ev.Update()
	last := map[string]*trace.Event{}
	for _, e := range ev.Calls {
		volume := ev.Names.Volume(e)
		if volume != "" && !calls.IsAsking(e) && calls.Answered(e) && (about["volume "+volume] || ev.isOfPod(e, ref)) {
			last[volume] = e
		}
	}
	var newest *trace.Event
	for _, e := range last {
		if IsFailedCall(e) && (newest == nil || e.Seq > newest.Seq) {
			newest = e
		}
	}
	return newest
}

// isOfPod reports whether a call names the pod, by the path in the call.
func (ev *Evidence) isOfPod(e *trace.Event, ref Reference) bool {
	pod := ev.Names.Pod(e)
	return pod != "" && ref.Resource != nil && ref.Resource.GVR.Resource == "pods" && partial.Wildcard(ref.Name, pod)
}

// connected returns the names that events use for the objects, and for the claims of pods among the
// objects.
func (ev *Evidence) connected(ref Reference) map[string]bool {
	about := map[string]bool{}
	for _, obj := range ev.Find(ref) {
		add(about, ref.Resource, store.KeyOf(obj))
		if pod, ok := obj.(*corev1.Pod); ok {
			for _, v := range pod.Spec.Volumes {
				if v.PersistentVolumeClaim != nil {
					claims, _ := Kinds{}.Named("pvc")
					add(about, claims, store.Key{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName})
				}
			}
		}
	}
	add(about, ref.Resource, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	return about
}

func add(about map[string]bool, res *store.Resource, key store.Key) {
	about[res.GVK.Kind+"/"+key.Name] = true
	about[res.GVR.Resource+" "+key.String()] = true
	if res.GVR.Resource == "persistentvolumeclaims" {
		about["volume "+key.Name] = true
	}
}
