package kind

import (
	"cmp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var eventColumns = []Column{
	timed("Last Seen", func(e *corev1.Event, now time.Time) any { return lastSeen(e, now) }),
	text("Type", func(e *corev1.Event) string { return e.Type }),
	text("Reason", func(e *corev1.Event) string { return e.Reason }),
	text("Object", func(e *corev1.Event) string {
		if e.InvolvedObject.Name == "" {
			return strings.ToLower(e.InvolvedObject.Kind)
		}
		return strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
	}),
	wide(text("Subobject", func(e *corev1.Event) string { return e.InvolvedObject.FieldPath })),
	wide(text("Source", func(e *corev1.Event) string {
		component, instance := cmp.Or(e.Source.Component, e.ReportingController), cmp.Or(e.Source.Host, e.ReportingInstance)
		if instance == "" {
			return component
		}
		return component + ", " + instance
	})),
	text("Message", func(e *corev1.Event) string { return strings.TrimSpace(e.Message) }),
	wide(timed("First Seen", func(e *corev1.Event, now time.Time) any { return firstSeen(e, now) })),
	wide(show("Count", "string", func(e *corev1.Event) any {
		switch {
		case e.Series != nil:
			return int64(e.Series.Count)
		case e.Count == 0:
			return int64(1)
		}
		return int64(e.Count)
	})),
	named(wide(text("Name", func(e *corev1.Event) string { return e.Name }))),
}

func lastSeen(e *corev1.Event, now time.Time) string {
	switch {
	case e.Series != nil:
		return age(metav1.NewTime(e.Series.LastObservedTime.Time), now)
	case e.LastTimestamp.IsZero():
		return firstSeen(e, now)
	}
	return age(e.LastTimestamp, now)
}

func firstSeen(e *corev1.Event, now time.Time) string {
	if e.FirstTimestamp.IsZero() {
		return age(metav1.NewTime(e.EventTime.Time), now)
	}
	return age(e.FirstTimestamp, now)
}

func eventSource(e *corev1.Event) string {
	if e.Source.Component != "" {
		return e.Source.Component
	}
	return e.ReportingController
}
