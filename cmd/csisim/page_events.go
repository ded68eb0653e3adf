package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// pageEvent is a line of the page's timeline.
type pageEvent struct {
	Seq  uint64 `json:"seq"`
	At   string `json:"at"`
	Kind string `json:"kind"` // call, event, change, step or other
	Who  string `json:"who"`
	What string `json:"what"`
	// Result is what came of it, and Tone how that should strike the reader.
	Result string `json:"result,omitempty"`
	Tone   string `json:"tone,omitempty"`
	// Quiet lines are hidden until they are asked for.
	Quiet bool `json:"quiet,omitempty"`
	// About are the keys of the objects that it is about.
	About []string `json:"about,omitempty"`
	// Open is a call without an answer.
	Open bool `json:"open,omitempty"`

	event *trace.Event
}

// maxShown is how many events the page knows at most.
const maxShown = 5000

// eventsAfter are the events after one that the page has.
func (l *lookout) eventsAfter(since uint64) []pageEvent {
	l.evidence.Update()
	for _, e := range l.cluster.World.Trace.Events() {
		if e.Seq > l.seen {
			l.shown = append(l.shown, l.show(e))
			l.seen = e.Seq
		}
	}
	if extra := len(l.shown) - maxShown; extra > 0 {
		l.shown = l.shown[extra:]
	}
	found := []pageEvent{}
	for i := range l.shown {
		if l.shown[i].Open {
			l.shown[i] = l.show(l.shown[i].event)
		}
		if e := l.shown[i]; e.Seq > since && e.What != "" {
			found = append(found, e)
		}
	}
	return found
}

// pageKinds are the kinds of events as the page knows them.
var pageKinds = map[trace.Kind]string{
	trace.Call: "call", trace.KubeEvent: "event", trace.API: "change", trace.Step: "step",
}

func (l *lookout) show(e *trace.Event) pageEvent {
	words := l.narrator.Describe(e)
	shown := pageEvent{
		Seq: e.Seq, At: fmt.Sprintf("%.3f s", e.At.Seconds()), Kind: pageKinds[e.Kind], Who: words.Lane, What: words.Text, Result: words.Outcome,
		Tone: map[string]string{"failure": "bad", "warning": "wait"}[words.Tone], About: l.about(e), event: e,
		Quiet: words.Quiet || e.Kind == trace.API || e.Kind == trace.Registration,
	}
	if e.Kind == trace.Call {
		shown.Open, shown.Quiet = !calls.Answered(e), calls.IsAsking(e)
	}
	if calls.Answered(e) && e.Code == "" && e.Kind == trace.Call {
		shown.Tone = "good"
	}
	return shown
}

// about are the keys of the objects that an event is about.
func (l *lookout) about(e *trace.Event) []string {
	var keys []string
	add := func(kind, name string) {
		if name != "" {
			keys = append(keys, kind+" "+name)
		}
	}
	switch e.Kind {
	case trace.API:
		if res, ok := expect.KindsIn(l.cluster.World.Store).Named(e.Resource); ok {
			add(res.GVK.Kind, e.Name)
		}
	case trace.KubeEvent:
		kind, name, _ := strings.Cut(e.Name, "/")
		add(kind, l.inNamespace(kind, name))
	case trace.Call:
		add("Node", l.evidence.Names.Node(e))
		add("CSIDriver", e.Driver)
		keys = append(keys, l.volumeKeys(l.evidence.Names.Volume(e))...)
	default:
		add("Node", e.Node)
	}
	return keys
}

// volumeKeys are the keys of a claim and its volume, by the claim's or the volume's name.
func (l *lookout) volumeKeys(name string) []string {
	if name == "" {
		return nil
	}
	name, _, _ = strings.Cut(name, "#") // the number of a claim that came again
	claim := name
	if !strings.Contains(name, "/") {
		claim = corev1.NamespaceDefault + "/" + name
	}
	keys := []string{"PersistentVolume " + name, "PersistentVolumeClaim " + claim}
	for v := range store.List[*corev1.PersistentVolume](l.cluster.World.Store, "") {
		if ref := v.Spec.ClaimRef; ref != nil && ref.Namespace+"/"+ref.Name == claim {
			keys = append(keys, keyOf("PersistentVolume", v))
		}
	}
	return keys
}

// inNamespace adds the namespace to a name as Kubernetes events have it.
func (l *lookout) inNamespace(kind, name string) string {
	res, ok := expect.KindsIn(l.cluster.World.Store).Named(kind)
	if !ok || !res.Namespaced {
		return name
	}
	for obj := range l.cluster.World.Store.ListObjects(res, "") {
		if obj.GetName() == name {
			return store.KeyOf(obj).String()
		}
	}
	return corev1.NamespaceDefault + "/" + name
}
