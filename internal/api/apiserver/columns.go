package apiserver

import (
	"cmp"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/csisim/csisim/internal/world/store"
)

// column is one column of a table and what it shows of an object.
type column struct {
	metav1.TableColumnDefinition
	cell func(obj store.Object, now time.Time) any
}

// text is a column of texts, show one of another type, wide one that only wide
// output has.
func text[T store.Object](name string, cell func(T) string) column {
	return show(name, "string", func(obj T) any { return cell(obj) })
}

func show[T store.Object](name, kind string, cell func(T) any) column {
	return column{
		metav1.TableColumnDefinition{Name: name, Type: kind},
		func(obj store.Object, _ time.Time) any { return cell(obj.(T)) },
	}
}

func wide(c column) column {
	c.Priority = 1
	return c
}

// named makes a column the one with the objects' names.
func named(c column) column {
	c.Format = "name"
	return c
}

// timed is a column that depends on the time of day.
func timed[T store.Object](name string, cell func(obj T, now time.Time) any) column {
	return column{
		metav1.TableColumnDefinition{Name: name, Type: "string"},
		func(obj store.Object, now time.Time) any { return cell(obj.(T), now) },
	}
}

var (
	nameColumn = named(text("Name", func(obj store.Object) string { return obj.GetName() }))
	ageColumn  = timed("Age", func(obj store.Object, now time.Time) any { return age(obj.GetCreationTimestamp(), now) })
)

func age(since metav1.Time, now time.Time) string {
	if since.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Sub(since.Time))
}

// columnsOf are the columns of the kinds that have more than a name and an age.
var columnsOf = map[string][]column{
	"configmaps": {nameColumn, show("Data", "string", func(c *corev1.ConfigMap) any { return int64(len(c.Data) + len(c.BinaryData)) }), ageColumn},
	"events":     eventColumns,
	"leases.coordination.k8s.io": {nameColumn, text("Holder", func(l *coordinationv1.Lease) string {
		if l.Spec.HolderIdentity == nil {
			return ""
		}
		return *l.Spec.HolderIdentity
	}), ageColumn},
	"namespaces": {nameColumn, text("Status", func(n *corev1.Namespace) string { return string(n.Status.Phase) }), ageColumn},
	"secrets": {
		nameColumn,
		text("Type", func(s *corev1.Secret) string { return string(s.Type) }),
		show("Data", "string", func(s *corev1.Secret) any { return int64(len(s.Data)) }),
		ageColumn,
	},
}

var eventColumns = []column{
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
