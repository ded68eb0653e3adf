package kind

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "Event",
		ShortNames: []string{"ev"},
		traits:     anyFinalizer,
		rules:      eventRules,
		Columns:    eventColumns,
		Forms:      []Form{newEvents},
		Fields: selectable(map[string]func(*corev1.Event) string{
			"involvedObject.kind":            func(o *corev1.Event) string { return o.InvolvedObject.Kind },
			"involvedObject.namespace":       func(o *corev1.Event) string { return o.InvolvedObject.Namespace },
			"involvedObject.name":            func(o *corev1.Event) string { return o.InvolvedObject.Name },
			"involvedObject.uid":             func(o *corev1.Event) string { return string(o.InvolvedObject.UID) },
			"involvedObject.apiVersion":      func(o *corev1.Event) string { return o.InvolvedObject.APIVersion },
			"involvedObject.resourceVersion": func(o *corev1.Event) string { return o.InvolvedObject.ResourceVersion },
			"involvedObject.fieldPath":       func(o *corev1.Event) string { return o.InvolvedObject.FieldPath },
			"reason":                         func(o *corev1.Event) string { return o.Reason },
			"reportingComponent":             func(o *corev1.Event) string { return o.ReportingController },
			"source":                         eventSource,
			"type":                           func(o *corev1.Event) string { return o.Type },
		}),
	})
}

// EventLife is the time for which the API server keeps an Event after its last write (its flag
// --event-ttl).
const EventLife = time.Hour

var eventRules = rules[*corev1.Event]{
	createdByUpdate: true,
	metadataLast:    true,
	ttl:             EventLife,
	compact:         compactOf,
	name:            objectname.PathSegment,
	passes:          []store.Pass{store.PassChange},
	validate:        func(obj *corev1.Event) field.ErrorList { return checkEvent(obj, "reportingComponent") },
	validateUpdate: func(obj, _ *corev1.Event) field.ErrorList {
		return checkEvent(obj, "reportingComponent")
	},
}

// Lengths of an event's fields, in bytes.
const (
	maxEventWord = 128
	maxEventNote = 1024
)

// checkEvent checks the namespace, and the fields that an event with an eventTime must have.
// reporter is the reporter's field name, which has two variants.
func checkEvent(event *corev1.Event, reporter string) (errs field.ErrorList) {
	about := event.InvolvedObject.Namespace
	homeless := about == "" && event.Namespace != metav1.NamespaceDefault
	if event.EventTime.IsZero() {
		if homeless || about != "" && about != event.Namespace {
			errs = append(errs, field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace"))
		}
		return errs
	}
	if homeless && event.Namespace != metav1.NamespaceSystem {
		errs = append(errs, field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace"))
	}
	errs = append(errs, mandatory(field.NewPath(reporter), event.ReportingController)...)
	errs = append(errs, qualifiedName(field.NewPath(reporter), event.ReportingController)...)
	errs = append(errs, eventWord("reportingInstance", event.ReportingInstance)...)
	errs = append(errs, eventWord("action", event.Action)...)
	errs = append(errs, eventWord("reason", event.Reason)...)
	return append(errs, noLonger("message", event.Message, maxEventNote)...)
}

func eventWord(name, word string) field.ErrorList {
	if word == "" {
		return field.ErrorList{field.Required(field.NewPath(name), "")}
	}
	return noLonger(name, word, maxEventWord)
}

func noLonger(name, text string, limit int) field.ErrorList {
	if len(text) <= limit {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath(name), "", fmt.Sprintf("can have at most %d characters", limit))}
}

// checkNewEvent returns the field errors of an event in events.k8s.io, which is stricter. old is
// the replaced event; nil for a new one.
func checkNewEvent(event, old *corev1.Event) field.ErrorList {
	errs := checkEvent(event, "reportingController")
	if old != nil {
		return append(errs, checkEventChange(event, old)...)
	}
	errs = append(errs, validation.ValidateObjectMeta(&event.ObjectMeta, true, validation.NameIsDNSSubdomain, metadataPath)...)
	errs = append(errs, store.CheckFinalizers(event.Finalizers)...)
	errs = append(errs, eventSeries(event.Series)...)
	if event.EventTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
	}
	if event.Type != corev1.EventTypeNormal && event.Type != corev1.EventTypeWarning {
		errs = append(errs, field.Invalid(field.NewPath("type"), "", "has invalid value: "+event.Type))
	}
	unset := func(name string, given bool) {
		if given {
			errs = append(errs, field.Invalid(field.NewPath(name), "", "needs to be unset"))
		}
	}
	unset("firstTimestamp", !event.FirstTimestamp.IsZero())
	unset("lastTimestamp", !event.LastTimestamp.IsZero())
	unset("count", event.Count != 0)
	unset("source", event.Source != corev1.EventSource{})
	return errs
}

func eventSeries(series *corev1.EventSeries) (errs field.ErrorList) {
	if series == nil {
		return nil
	}
	if series.Count < 2 {
		errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
	}
	if series.LastObservedTime.IsZero() {
		errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
	}
	return errs
}

// checkEventChange permits only the series of an event to change.
func checkEventChange(now, was *corev1.Event) field.ErrorList {
	errs := append(validation.ValidateObjectMetaUpdate(&now.ObjectMeta, &was.ObjectMeta, metadataPath), store.CheckFinalizers(now.Finalizers)...)
	if immutable(nil, now.Series, was.Series) != nil {
		errs = append(errs, eventSeries(now.Series)...)
	}
	stays := func(name string, now, was any) {
		errs = append(errs, immutable(field.NewPath(name), now, was)...)
	}
	stays("involvedObject", now.InvolvedObject, was.InvolvedObject)
	stays("reason", now.Reason, was.Reason)
	stays("message", now.Message, was.Message)
	stays("source", now.Source, was.Source)
	stays("firstTimestamp", now.FirstTimestamp, was.FirstTimestamp)
	stays("lastTimestamp", now.LastTimestamp, was.LastTimestamp)
	stays("count", now.Count, was.Count)
	stays("reason", now.Reason, was.Reason) // reported twice
	stays("type", now.Type, was.Type)
	if !now.EventTime.Truncate(time.Microsecond).Equal(was.EventTime.Truncate(time.Microsecond)) {
		stays("eventTime", now.EventTime, was.EventTime)
	}
	stays("action", now.Action, was.Action)
	stays("related", now.Related, was.Related)
	stays("reportingController", now.ReportingController, was.ReportingController)
	stays("reportingInstance", now.ReportingInstance, was.ReportingInstance)
	return errs
}
