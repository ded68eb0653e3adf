package component

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/sim/store"
	"github.com/csisim/csisim/sim/trace"
)

// eventLog finds the Event object that a repeated event counts up. It is in a
// program's memory: one that was restarted counts from 1 again. (trace m1)
type eventLog struct {
	about map[types.UID][]*corev1.Event // as this log wrote them last; nil before the first
}

// eventIdentity is what client-go's recorder compares when it counts repetitions.
type eventIdentity struct {
	source, node          string
	about                 types.UID
	kind, reason, message string
}

// find is the event that a repetition counts up; nil if there is none.
func (l *eventLog) find(id eventIdentity) *corev1.Event {
	known := l.about[id.about]
	if i := slices.IndexFunc(known, id.isOf); i >= 0 {
		return known[i]
	}
	return nil
}

// keep takes in an event, in the place of the one with its identity.
func (l *eventLog) keep(id eventIdentity, e *corev1.Event) {
	if l.about == nil {
		l.about = map[types.UID][]*corev1.Event{}
	}
	known := l.about[id.about]
	if i := slices.IndexFunc(known, id.isOf); i >= 0 {
		known[i] = e
	} else {
		l.about[id.about] = append(known, e)
	}
}

func (id eventIdentity) isOf(e *corev1.Event) bool {
	return e.Message == id.message && e.Reason == id.reason && e.InvolvedObject.Kind == id.kind &&
		cmp.Or(e.Source.Component, e.ReportingController) == id.source && e.Source.Host == id.node
}

// Event emits a Kubernetes Event about an object: eventType is Normal or Warning.
// It never fails and is no point at which another process may run: real
// recorders work in the background.
func (c *Component) Event(about store.Object, eventType, reason, format string, args ...any) {
	c.EventFrom(c.Name, about, eventType, reason, format, args...)
}

// EventFrom is Event with another source than the component's name.
func (c *Component) EventFrom(source string, about store.Object, eventType, reason, format string, args ...any) {
	c.countEventRequest()
	message := format
	if len(args) > 0 {
		message = fmt.Sprintf(format, args...)
	}
	kind := about.GetObjectKind().GroupVersionKind().Kind
	count := c.countEvent(source, kind, about, eventType, reason, message)
	c.Trace.Add(&trace.Event{
		Kind: trace.KubeEvent, Actor: source, Node: c.Node, Method: reason, Message: message,
		Resource: eventType, Name: kind + "/" + about.GetName(), Detail: count,
	})
}

func (c *Component) countEvent(source, kind string, about store.Object, eventType, reason, message string) int32 {
	id := eventIdentity{source, c.Node, about.GetUID(), kind, reason, message}
	now := metav1.NewTime(c.Kernel.Now())
	if known := c.events.find(id); known != nil {
		counted, err := store.Modify(c.Store, store.KeyOf(known), func(e *corev1.Event) {
			e.Count++
			e.LastTimestamp = now
		})
		if err == nil {
			c.events.keep(id, counted)
			return counted.Count
		}
	}
	created, err := store.Adopt(c.Store, c.newEvent(source, about, eventType, reason, message, now))
	if err != nil {
		return 1 // its namespace is gone: the real recorder drops it as well
	}
	c.events.keep(id, created)
	return 1
}

func (c *Component) newEvent(source string, about store.Object, eventType, reason, message string, now metav1.Time) *corev1.Event {
	c.World.events++
	namespace := about.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	gvk := about.GetObjectKind().GroupVersionKind()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:      about.GetName() + "." + strconv.FormatInt(int64(c.World.events), 16),
			Namespace: namespace,
		},
		InvolvedObject: corev1.ObjectReference{
			Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String(), Namespace: about.GetNamespace(),
			Name: about.GetName(), UID: about.GetUID(), ResourceVersion: about.GetResourceVersion(),
		},
		Type: eventType, Reason: reason, Message: message,
		Source:         corev1.EventSource{Component: source, Host: c.Node},
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
}
