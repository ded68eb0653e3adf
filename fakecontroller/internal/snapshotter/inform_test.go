package snapshotter

import (
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// C-SNAP-31
func TestWhichChangesOfAContentMatter(t *testing.T) {
	failed := &snapshotv1.VolumeSnapshotContentStatus{ReadyToUse: ptr.To(false), Error: &snapshotv1.VolumeSnapshotError{Message: ptr.To("no")}}
	ready := &snapshotv1.VolumeSnapshotContentStatus{ReadyToUse: ptr.To(true)}
	annotated := func(names ...string) func(content) {
		return func(c content) {
			c.Annotations = map[string]string{}
			for _, name := range names {
				c.Annotations[name] = "yes"
			}
		}
	}
	for says, c := range map[string]struct {
		before, after func(content)
		matters       bool
	}{
		"an error is written down":         {after: func(c content) { c.Status = failed }},
		"the error goes":                   {before: func(c content) { c.Status = failed }, after: func(c content) { c.Status = nil }},
		"it becomes ready":                 {before: func(c content) { c.Status = failed }, after: func(c content) { c.Status = ready }, matters: true},
		"it is ready no more":              {before: func(c content) { c.Status = ready }, after: func(c content) { c.Status = failed }},
		"the finalizer comes":              {after: func(c content) { c.Finalizers = []string{snapshot.ContentFinalizer} }},
		"the version changes":              {after: func(c content) { c.ResourceVersion = "9" }},
		"fields get other owners":          {after: func(c content) { c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}} }},
		"it is about to be made":           {after: annotated(snapshot.BeingCreated)},
		"it is to be deleted":              {after: annotated(snapshot.BeingDeleted), matters: true},
		"another annotation comes as well": {after: annotated(snapshot.BeingCreated, "example.com/a"), matters: true},
		"its deletion is requested":        {after: func(c content) { c.DeletionTimestamp = &metav1.Time{} }, matters: true},
		"it is bound":                      {after: func(c content) { c.Spec.VolumeSnapshotRef.UID = "u" }, matters: true},
	} {
		t.Run(says, func(t *testing.T) {
			old, now := &snapshotv1.VolumeSnapshotContent{}, &snapshotv1.VolumeSnapshotContent{}
			if c.before != nil {
				c.before(old)
			}
			c.after(now)
			assert.Equal(t, c.matters, (&run{}).matters(old, now))
		})
	}
}

// C-SNAP-31
func TestContentsOfOtherDriversAreIgnored(t *testing.T) {
	w := testcluster.NewAPI(t, nil)
	for name, driver := range map[string]string{"ours": "d", "theirs": "x"} {
		_, err := store.Create(w.Store, &snapshotv1.VolumeSnapshotClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
		})
		require.NoError(t, err)
	}
	r := (&run{Component: w.Start("sidecar", ""), driver: "d"}).snapshots()
	of := func(driver string, class *string) content {
		return &snapshotv1.VolumeSnapshotContent{Spec: snapshotv1.VolumeSnapshotContentSpec{Driver: driver, VolumeSnapshotClassName: class}}
	}
	assert.True(t, r.own(of("d", nil)))
	assert.True(t, r.own(of("d", ptr.To("ours"))))
	assert.True(t, r.own(of("d", ptr.To("gone"))))
	assert.False(t, r.own(of("d", ptr.To("theirs"))))
	assert.False(t, r.own(of("x", ptr.To("ours"))))
}
