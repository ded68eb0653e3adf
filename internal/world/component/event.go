package component

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Event emits a Kubernetes Event about an object: eventType is Normal or Warning. It never fails
// and never yields to other processes, because real recorders work in the background.
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
	message = c.again(reason, message)
	kind := about.GetObjectKind().GroupVersionKind().Kind
	count := c.countEvent(source, kind, about, eventType, reason, message)
	c.Trace.Add(trace.Entry{
		Kind: trace.KubeEvent, Actor: source, Node: c.Node, Method: reason, Message: message,
		Resource: eventType, Name: kind + "/" + about.GetName(), Detail: count,
	})
}

func (c *Component) countEvent(source, kind string, about store.Object, eventType, reason, message string) int32 {
	id := eventIdentity{source, about.GetUID(), kind, reason, message}.hash()
	now := metav1.NewTime(c.Kernel.Now())
	known, isKnown := c.events.find(id)
	if isKnown {
		counted, err := store.Modify(c.Store, eventKey(about, known.name), func(e *corev1.Event) {
			e.Count++
			e.LastTimestamp = now
		})
		if err == nil {
			c.events.keep(id, counted)
			return counted.Count
		}
	}
	event := c.newEvent(source, about, eventType, reason, message, now)
	if isKnown { // the server has removed it: it is created again, and its count continues
		event.Name, event.FirstTimestamp, event.Count = known.name, known.began(), known.count+1
	}
	created, err := store.Adopt(c.Store, event)
	if err != nil {
		return 1 // its namespace was deleted: the real recorder also drops the event
	}
	c.events.keep(id, created)
	return created.Count
}

// again returns the previous message with the same reason if the texts are equal. Sharing it saves
// memory, because many consecutive pods have the same message.
func (w *World) again(reason, message string) string {
	if known := w.said[reason]; known == message {
		return known
	}
	if w.said == nil {
		w.said = map[string]string{}
	}
	w.said[reason] = message
	return message
}

func (c *Component) newEvent(source string, about store.Object, eventType, reason, message string, now metav1.Time) *corev1.Event {
	// No two Events have the same name.
	c.World.lastEvent = max(c.World.lastEvent+1, c.Kernel.Now().UnixNano())
	key := eventKey(about, eventName(about.GetName(), c.World.lastEvent))
	gvk := about.GetObjectKind().GroupVersionKind()
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace},
		InvolvedObject: corev1.ObjectReference{
			Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String(), Namespace: about.GetNamespace(),
			Name: about.GetName(), UID: about.GetUID(), ResourceVersion: about.GetResourceVersion(),
		},
		Type: eventType, Reason: reason, Message: message,
		Source:              corev1.EventSource{Component: source, Host: c.Node},
		ReportingController: source, ReportingInstance: c.Node,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
}

// eventName returns the name of an Event: the name of the object and a number. If the result is not
// a valid name, for example because the object's name is long, the name has the form of a UUID,
// which is random in the real recorder. [client-go tools/record/util GenerateEventName]
func eventName(about string, number int64) string {
	name := about + "." + strconv.FormatInt(number, 16)
	if len(apivalidation.NameIsDNSSubdomain(name, false)) == 0 {
		return name
	}
	h := fnv.New128a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum(nil)
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // version 4, like random ones
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
}

// eventKey returns the key of an Event about an object.
func eventKey(about store.Object, name string) store.Key {
	return store.Key{Namespace: cmp.Or(about.GetNamespace(), metav1.NamespaceDefault), Name: name}
}
