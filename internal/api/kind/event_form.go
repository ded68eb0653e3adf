package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// newEvents are events in the form of events.k8s.io.
var newEvents = Form{
	GroupVersion: eventsv1.SchemeGroupVersion,
	New:          func() store.Object { return &eventsv1.Event{} },
	Present:      func(obj store.Object) store.Object { return newEvent(typed[*corev1.Event](obj)) },
	Accept:       func(obj store.Object) store.Object { return coreEvent(typed[*eventsv1.Event](obj)) },
	Label:        coreLabel,
	Check:        fromBoth(checkNewEvent),
}

// coreLabel returns the core group's field label for a field label of events.k8s.io; "" if there is
// none.
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
