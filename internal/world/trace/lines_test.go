package trace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/trace"
)

func TestConsecutiveLinesEqualLinesOfSingleEvents(t *testing.T) {
	claim := func(phase corev1.PersistentVolumeClaimPhase, labels map[string]string) *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data", Labels: labels}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase}}
	}
	pending, bound, labelled, again := claim("Pending", nil), claim("Bound", nil), claim("Bound", map[string]string{"a": "b"}), claim("Pending", nil)
	change := func(e trace.Entry) *trace.Event {
		e.Kind, e.Resource, e.Name = trace.API, "persistentvolumeclaims", "default/data"
		return e.Event()
	}
	elsewhere := trace.Entry{Change: "MODIFIED", Cluster: "b", Old: again, New: bound}
	events := []*trace.Event{
		change(trace.Entry{Change: "ADDED", New: pending}),
		change(trace.Entry{Change: "MODIFIED", Old: pending, New: bound}),
		change(elsewhere), // of another cluster
		change(trace.Entry{Change: "MODIFIED", Old: bound, New: labelled}),
		change(trace.Entry{Change: "MODIFIED", Old: pending, New: labelled}), // an older version
		change(trace.Entry{Change: "DELETED", Old: labelled}),
		change(trace.Entry{Change: "ADDED", New: again}),
		change(trace.Entry{Change: "MODIFIED", Old: again, New: bound}),
	}
	var lines trace.Lines
	for i, e := range events {
		alone, err := e.Line()
		require.NoError(t, err)
		line, err := lines.Of(e)
		require.NoError(t, err)
		assert.Equal(t, alone, line, "event %d", i)
	}
	last, err := lines.Of(events[3])
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}, last.Patch)
}
