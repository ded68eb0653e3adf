package component

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Report emits an event through the events.k8s.io API like the scheduler: without a count. The
// first repetition turns the event into a series. Later repetitions are not sent for many minutes.
func (c *Component) Report(about store.Object, eventType, reason, action, note string) {
	c.ReportFrom(c.Name, about, eventType, reason, action, note)
}

// ReportFrom is Report with another source than the component's name.
func (c *Component) ReportFrom(source string, about store.Object, eventType, reason, action, note string) {
	note = c.again(reason, note)
	kind := about.GetObjectKind().GroupVersionKind().Kind
	id := eventIdentity{source, about.GetUID(), kind, reason, note}.hash()
	now := metav1.NewMicroTime(c.Kernel.Now())
	if known, ok := c.events.find(id); ok {
		if known, ok := store.Get[*corev1.Event](c.Store, eventKey(about, known.name)); ok {
			if known.Series != nil {
				return
			}
			series, err := store.Modify(c.Store, store.KeyOf(known), func(e *corev1.Event) {
				e.Series = &corev1.EventSeries{Count: 2, LastObservedTime: now}
			})
			if err == nil {
				c.events.keep(id, series)
				c.recordEvent(source, kind, about, eventType, reason, note)
			}
			return
		}
	}
	event := c.newEvent("", about, eventType, reason, note, metav1.Time{})
	event.Source, event.Count = corev1.EventSource{}, 0
	event.EventTime, event.ReportingController, event.ReportingInstance, event.Action = now, source, source, action
	if created, err := store.Adopt(c.Store, event); err == nil {
		c.events.keep(id, created)
	}
	c.recordEvent(source, kind, about, eventType, reason, note)
}

func (c *Component) recordEvent(source, kind string, about store.Object, eventType, reason, note string) {
	c.Trace.Add(trace.Entry{
		Kind: trace.KubeEvent, Actor: source, Node: c.Node, Method: reason, Message: note,
		Resource: eventType, Name: kind + "/" + about.GetName(),
	})
}
