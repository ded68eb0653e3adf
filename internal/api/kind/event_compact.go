package kind

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
	"unique"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// compactEvent is the stored form of an Event. A pod has ten Events, which are rarely read.
// Therefore fields with frequent values are shared.
type compactEvent struct {
	alike                 unique.Handle[eventTraits]
	uid, about            [16]byte
	aboutName, message    string
	created, first, last  int64 // see instant
	version, aboutVersion uint32
	count, series         int32
}

// eventTraits are fields that are equal in very many Events.
type eventTraits struct {
	kind, apiVersion, namespace, fieldPath string // of the involved object
	eventType, reason, action              string
	component, host                        string
	controller, instance                   string
	isNew                                  bool // its times are in the form of events.k8s.io
}

// wholeEvent is an Event with fields that the recorders of Kubernetes do not write.
type wholeEvent struct{ *corev1.Event }

func (w wholeEvent) Object(store.Key) store.Object { return w.Event }

// compactOf returns the stored form of an Event.
func compactOf(key store.Key, e *corev1.Event) store.Compact {
	if compact := compacted(e); compact.isAll(key, e) {
		return compact
	}
	return wholeEvent{e}
}

// compacted returns the fields of an Event that compactEvent can store, except its key.
func compacted(e *corev1.Event) *compactEvent {
	about := &e.InvolvedObject
	c := &compactEvent{
		uid: uidBytes(e.UID), about: uidBytes(about.UID), aboutName: about.Name, message: e.Message, count: e.Count,
		version: number(e.ResourceVersion), aboutVersion: number(about.ResourceVersion),
		created: instant(e.CreationTimestamp.Time), first: instant(e.FirstTimestamp.Time), last: instant(e.LastTimestamp.Time),
	}
	traits := eventTraits{
		kind: about.Kind, apiVersion: about.APIVersion, namespace: about.Namespace, fieldPath: about.FieldPath,
		eventType: e.Type, reason: e.Reason, action: e.Action, component: e.Source.Component, host: e.Source.Host,
		controller: e.ReportingController, instance: e.ReportingInstance,
	}
	if !e.EventTime.IsZero() && c.first == never && c.last == never {
		traits.isNew, c.first = true, instant(e.EventTime.Time)
		if e.Series != nil {
			c.series, c.last = e.Series.Count, instant(e.Series.LastObservedTime.Time)
		}
	}
	c.alike = unique.Make(traits)
	return c
}

// isAll reports whether the compact form has all fields of an Event.
func (c *compactEvent) isAll(key store.Key, e *corev1.Event) bool {
	m, about := &e.ObjectMeta, &e.InvolvedObject
	return e.TypeMeta == eventType && store.KeyOf(e) == key && hasNoMore(m) &&
		isUID(c.uid, m.UID) && eventVersion(c.version) == m.ResourceVersion &&
		isUID(c.about, about.UID) && eventVersion(c.aboutVersion) == about.ResourceVersion &&
		timeAt(c.created).Equal(m.CreationTimestamp.Time) && c.hasTimes(e) && e.Related == nil
}

// hasNoMore reports whether the metadata of an Event has only the fields that all Events have.
func hasNoMore(m *metav1.ObjectMeta) bool {
	//lint:ignore SA1019 clients may still send it, and it is stored
	return m.GenerateName == "" && m.SelfLink == "" && m.Generation == 0 && m.DeletionTimestamp == nil && m.DeletionGracePeriodSeconds == nil &&
		m.Labels == nil && m.Annotations == nil && m.OwnerReferences == nil && m.Finalizers == nil && m.ManagedFields == nil
}

func (c *compactEvent) hasTimes(e *corev1.Event) bool {
	if !c.alike.Value().isNew {
		return timeAt(c.first).Equal(e.FirstTimestamp.Time) && timeAt(c.last).Equal(e.LastTimestamp.Time) && e.EventTime.IsZero() && e.Series == nil
	}
	return timeAt(c.first).Equal(e.EventTime.Time) &&
		(e.Series == nil || e.Series.Count != 0 && timeAt(c.last).Equal(e.Series.LastObservedTime.Time))
}

// Object implements store.Compact.
func (c *compactEvent) Object(key store.Key) store.Object {
	t := c.alike.Value()
	e := &corev1.Event{
		TypeMeta: eventType,
		ObjectMeta: metav1.ObjectMeta{
			Name: key.Name, Namespace: key.Namespace, UID: uidText(c.uid), ResourceVersion: eventVersion(c.version), CreationTimestamp: metav1.Time{Time: timeAt(c.created)},
		},
		InvolvedObject: corev1.ObjectReference{
			Kind: t.kind, APIVersion: t.apiVersion, Namespace: t.namespace, FieldPath: t.fieldPath,
			Name: c.aboutName, UID: uidText(c.about), ResourceVersion: eventVersion(c.aboutVersion),
		},
		Type: t.eventType, Reason: t.reason, Action: t.action, Message: c.message, Count: c.count,
		Source:              corev1.EventSource{Component: t.component, Host: t.host},
		ReportingController: t.controller, ReportingInstance: t.instance,
	}
	if !t.isNew {
		e.FirstTimestamp, e.LastTimestamp = metav1.Time{Time: timeAt(c.first)}, metav1.Time{Time: timeAt(c.last)}
		return e
	}
	e.EventTime = metav1.MicroTime{Time: timeAt(c.first)}
	if c.series != 0 {
		e.Series = &corev1.EventSeries{Count: c.series, LastObservedTime: metav1.MicroTime{Time: timeAt(c.last)}}
	}
	return e
}

var eventType = metav1.TypeMeta{Kind: "Event", APIVersion: "v1"}

// never is the instant of an unset time.
const never = math.MinInt64

// instant converts a time to nanoseconds of Unix time.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return never
	}
	return t.UnixNano()
}

func timeAt(instant int64) time.Time {
	if instant == never {
		return time.Time{}
	}
	return time.Unix(0, instant).UTC()
}

// number converts a resource version; 0 for an empty or an invalid one.
func number(version string) uint32 {
	n, err := strconv.ParseUint(version, 10, 32)
	if err != nil {
		return 0
	}
	return uint32(n)
}

func eventVersion(number uint32) string {
	if number == 0 {
		return ""
	}
	return strconv.FormatUint(uint64(number), 10)
}

// uidBytes converts a UID; an invalid one gives other bytes.
func uidBytes(uid types.UID) (bytes [16]byte) {
	if len(uid) != len("00000000-0000-0000-0000-000000000000") {
		return bytes
	}
	digits := string(uid[:8] + uid[9:13] + uid[14:18] + uid[19:23] + uid[24:])
	_, _ = hex.Decode(bytes[:], []byte(digits)) // the comparison detects an invalid one
	return bytes
}

// isUID reports whether the bytes have the form of a UID.
func isUID(bytes [16]byte, uid types.UID) bool {
	text := uidLetters(bytes)
	return string(text[:]) == string(uid)
}

func uidText(bytes [16]byte) types.UID {
	text := uidLetters(bytes)
	return types.UID(text[:])
}

func uidLetters(bytes [16]byte) (text [36]byte) {
	hex.Encode(text[:8], bytes[:4])
	hex.Encode(text[9:13], bytes[4:6])
	hex.Encode(text[14:18], bytes[6:8])
	hex.Encode(text[19:23], bytes[8:10])
	hex.Encode(text[24:], bytes[10:])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return text
}
