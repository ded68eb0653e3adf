package apiserver

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// form is another shape in which a stored kind is served.
type form struct {
	new     func() store.Object
	present func(stored store.Object) store.Object
	accept  func(given store.Object) store.Object
	fields  func(label string) string                   // of the stored kind, for a label of this one
	check   func(obj, old store.Object) field.ErrorList // of the stored kind, in the words of this one
}

// presented is a stored object as the kind shows it.
func (k *servedKind) presented(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.present(obj)
}

// accepted is an object of the kind as it is stored.
func (k *servedKind) accepted(obj store.Object) store.Object {
	if k.form == nil || obj == nil {
		return obj
	}
	return k.form.accept(obj)
}

// newEvents are the events of the core group in the shape of events.k8s.io.
func newEvents(stored *servedKind) *servedKind {
	k := *stored
	k.gvk = eventsv1.SchemeGroupVersion.WithKind("Event")
	k.gvr = eventsv1.SchemeGroupVersion.WithResource("events")
	k.form = &form{
		new:     func() store.Object { return &eventsv1.Event{} },
		present: func(obj store.Object) store.Object { return newEvent(obj.(*corev1.Event)) },
		accept:  func(obj store.Object) store.Object { return coreEvent(obj.(*eventsv1.Event)) },
		fields:  coreLabel,
		check:   kind.CheckNewEvent,
	}
	return &k
}

// coreLabel is the field label of the core group for one of events.k8s.io, "" if there
// is none.
func coreLabel(label string) string {
	if about, ok := strings.CutPrefix(label, "regarding."); ok {
		return "involvedObject." + about
	}
	switch label {
	case "reportingController":
		return "reportingComponent"
	case "reason", "type":
		return label
	}
	return ""
}

func newEvent(e *corev1.Event) *eventsv1.Event {
	n := &eventsv1.Event{
		ObjectMeta: e.ObjectMeta, EventTime: e.EventTime,
		ReportingController: e.ReportingController, ReportingInstance: e.ReportingInstance,
		Action: e.Action, Reason: e.Reason, Regarding: e.InvolvedObject, Related: e.Related, Note: e.Message, Type: e.Type,
		DeprecatedSource: e.Source, DeprecatedFirstTimestamp: e.FirstTimestamp, DeprecatedLastTimestamp: e.LastTimestamp,
		DeprecatedCount: e.Count,
	}
	if e.Series != nil {
		n.Series = &eventsv1.EventSeries{Count: e.Series.Count, LastObservedTime: e.Series.LastObservedTime}
	}
	n.SetGroupVersionKind(eventsv1.SchemeGroupVersion.WithKind("Event"))
	return n
}

func coreEvent(n *eventsv1.Event) *corev1.Event {
	e := &corev1.Event{
		ObjectMeta: n.ObjectMeta, EventTime: n.EventTime,
		ReportingController: n.ReportingController, ReportingInstance: n.ReportingInstance,
		Action: n.Action, Reason: n.Reason, InvolvedObject: n.Regarding, Related: n.Related, Message: n.Note, Type: n.Type,
		Source: n.DeprecatedSource, FirstTimestamp: n.DeprecatedFirstTimestamp, LastTimestamp: n.DeprecatedLastTimestamp,
		Count: n.DeprecatedCount,
	}
	if n.Series != nil {
		e.Series = &corev1.EventSeries{Count: n.Series.Count, LastObservedTime: n.Series.LastObservedTime}
	}
	e.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Event"))
	return e
}
