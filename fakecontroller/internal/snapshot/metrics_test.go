package snapshot

import (
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

// conformance: csimock-snapshot-metrics-dynamic, csimock-snapshot-metrics-pre-provisioned
func TestTheDurationOfASnapshotIsMeasured(t *testing.T) {
	for kind, given := range map[string]func(*world) volumeSnapshot{
		"dynamic": func(w *world) volumeSnapshot { return w.snapshot("daily", "fast") },
		"pre-provisioned": func(w *world) volumeSnapshot {
			w.snapshot("original", "fast")
			w.Run(time.Second)
			name := "given"
			handle := "snap-0001"
			tc.Create(w.Cluster, &snapshotv1.VolumeSnapshotContent{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec: snapshotv1.VolumeSnapshotContentSpec{
					Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain,
					Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: &handle},
					VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "daily"},
				},
			})
			return tc.Create(w.Cluster, &snapshotv1.VolumeSnapshot{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "daily"},
				Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{VolumeSnapshotContentName: &name}},
			})
		},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t, mock.Options{ListSnapshots: true})
			w.controller.Crash()
			c := newController(w.World, Options{})
			c.lead()
			times := func(operation string) float64 {
				return c.Metrics.Value(operationSeconds, "driver_name", tc.Driver, "operation_name", operation, "snapshot_type", kind, "operation_status", "success")
			}
			s := given(w)
			w.Run(time.Second)
			assert.Equal(t, []float64{1, 1, 0}, []float64{times(creation), times(creationAndReady), times(deletion)})
			tc.Delete(w.Cluster, s)
			w.Run(time.Minute)
			assert.Equal(t, []float64{1, 1, 1}, []float64{times(creation), times(creationAndReady), times(deletion)})
		})
	}
}
