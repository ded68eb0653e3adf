package kind

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// The stored form of an Event preserves all of its fields.
func TestTheStoredFormOfAnEventKeepsAllFields(t *testing.T) {
	at := func(seconds int64) time.Time { return time.Unix(1_800_000_000+seconds, 123456789).UTC() }
	counted := corev1.Event{
		TypeMeta:       eventType,
		ObjectMeta:     metav1.ObjectMeta{Name: "web.1", Namespace: "shop", UID: "5d4b1c4e-0d54-4f0a-9a53-00000000000a", ResourceVersion: "77", CreationTimestamp: metav1.NewTime(at(0))},
		InvolvedObject: corev1.ObjectReference{Kind: "Pod", APIVersion: "v1", Namespace: "shop", Name: "web", UID: "0852c698-614f-4cdd-b142-37a0e32f85cd", ResourceVersion: "12", FieldPath: "spec.containers{c}"},
		Type:           corev1.EventTypeNormal, Reason: "Started", Message: "Container started",
		Source:         corev1.EventSource{Component: "kubelet", Host: "node-a"},
		FirstTimestamp: metav1.NewTime(at(1)), LastTimestamp: metav1.NewTime(at(2)), Count: 3,
	}
	reported := *counted.DeepCopy()
	reported.FirstTimestamp, reported.LastTimestamp, reported.Count, reported.Source = metav1.Time{}, metav1.Time{}, 0, corev1.EventSource{}
	reported.EventTime, reported.ReportingController, reported.ReportingInstance, reported.Action = metav1.NewMicroTime(at(1)), "default-scheduler", "default-scheduler", "Binding"
	series := *reported.DeepCopy()
	series.Series = &corev1.EventSeries{Count: 2, LastObservedTime: metav1.NewMicroTime(at(9))}

	for name, test := range map[string]struct {
		of    corev1.Event
		with  func(*corev1.Event)
		whole bool
	}{
		"counted":                           {of: counted},
		"counted, about no version":         {of: counted, with: func(e *corev1.Event) { e.InvolvedObject.ResourceVersion = "" }},
		"without times":                     {of: counted, with: func(e *corev1.Event) { e.FirstTimestamp, e.LastTimestamp = metav1.Time{}, metav1.Time{} }},
		"reported":                          {of: reported},
		"a series":                          {of: series},
		"a series of none":                  {of: series, with: func(e *corev1.Event) { e.Series.Count = 0 }, whole: true},
		"both ways of telling the time":     {of: reported, with: func(e *corev1.Event) { e.FirstTimestamp = counted.FirstTimestamp }, whole: true},
		"labels":                            {of: counted, with: func(e *corev1.Event) { e.Labels = map[string]string{"a": "b"} }, whole: true},
		"a finalizer":                       {of: counted, with: func(e *corev1.Event) { e.Finalizers = []string{"example.com/a"} }, whole: true},
		"being deleted":                     {of: counted, with: func(e *corev1.Event) { e.DeletionTimestamp = &counted.LastTimestamp }, whole: true},
		"of a node, with its name as uid":   {of: counted, with: func(e *corev1.Event) { e.InvolvedObject.UID = "node-a" }, whole: true},
		"a uid of the length of a real one": {of: counted, with: func(e *corev1.Event) { e.InvolvedObject.UID = "0852C698-614f-4cdd-b142-37a0e32f85cd" }, whole: true},
		"a version that is no number":       {of: counted, with: func(e *corev1.Event) { e.InvolvedObject.ResourceVersion = "012" }, whole: true},
		"a time before all times":           {of: counted, with: func(e *corev1.Event) { e.FirstTimestamp = metav1.NewTime(time.Unix(-1<<40, 0).UTC()) }, whole: true},
		"something related":                 {of: counted, with: func(e *corev1.Event) { e.Related = &corev1.ObjectReference{Name: "data"} }, whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := test.of.DeepCopy()
			if test.with != nil {
				test.with(e)
			}
			want := e.DeepCopy()
			kept := compactOf(store.KeyOf(e), e)
			assert.Equal(t, want, kept.Object(store.KeyOf(e)))
			_, whole := kept.(wholeEvent)
			assert.Equal(t, test.whole, whole, "it is kept as an object")
		})
	}
}

// Some Events are stored as objects and many in compact form. Reads return the same.
func TestManyEventsAreReadAsTheyWereWritten(t *testing.T) {
	s := NewStore(store.Options{})
	const many = 2_000
	event := func(i int, message string) *corev1.Event {
		return &corev1.Event{
			ObjectMeta:     metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: fmt.Sprintf("web.%04d", i)},
			InvolvedObject: corev1.ObjectReference{Kind: "Pod", Namespace: metav1.NamespaceDefault, Name: "web"},
			Reason:         "Started", Message: message,
		}
	}
	for i := range many {
		_, err := store.Create(s, event(i, "first"))
		require.NoError(t, err)
	}
	for i := range many {
		_, err := store.Update(s, event(i, "second"))
		require.NoError(t, err)
	}
	i := 0
	for e := range store.List[*corev1.Event](s, "") {
		assert.Equal(t, event(i, "second").Name+" second", e.Name+" "+e.Message)
		i++
	}
	assert.Equal(t, many, i)
	for i := range many {
		_, err := store.Delete[*corev1.Event](s, store.KeyOf(event(i, "")))
		require.NoError(t, err)
	}
	assert.Empty(t, slices.Collect(store.List[*corev1.Event](s, "")))
}
