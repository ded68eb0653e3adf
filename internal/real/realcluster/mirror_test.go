package realcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// If an Event of an earlier run is emitted again, it counts in this run, from 1.
func TestEventsAreCountedFromTheBeginOfARun(t *testing.T) {
	m := newMirror(nil)
	event := func(uid types.UID, created time.Time) *corev1.Event {
		return &corev1.Event{ObjectMeta: metav1.ObjectMeta{UID: uid, CreationTimestamp: metav1.NewTime(created)}}
	}
	old, own := event("old", m.began.Add(-time.Hour)), event("own", m.began.Add(time.Second))
	for _, c := range []struct {
		what  string
		event *corev1.Event
		count int32
		want  int32 // 0 for no emission
	}{
		{"listed at the beginning", old, 2, 0},
		{"listed again", old, 2, 0},
		{"emitted again", old, 3, 1},
		{"and again", old, 5, 3},
		{"of this run", own, 1, 1},
		{"listed after a watch has ended", own, 1, 0},
		{"emitted twice", own, 2, 2},
	} {
		n, isNew := m.inThisRun(c.event, c.count)
		assert.Equal(t, c.want > 0, isNew, c.what)
		if isNew {
			assert.Equal(t, c.want, n, c.what)
		}
	}
}
