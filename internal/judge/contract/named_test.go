package contract

import (
	"fmt"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/stretchr/testify/assert"
)

// CSI "CreateVolume", "CreateSnapshot": a name identifies one object, and so does an id, even if
// answers are lost.
func TestANameMeansOneThing(t *testing.T) {
	const create, remove, snap = "Controller/CreateVolume", "Controller/DeleteVolume", "Controller/CreateSnapshot"
	type step struct{ method, name, id string }
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
	}{
		{"the same volume again", []step{{create, "pvc", "v1"}, {create, "pvc", "v1"}}, nil},
		{"two names", []step{{create, "pvc-a", "v1"}, {create, "pvc-b", "v2"}}, nil},
		{"another volume", []step{{create, "pvc", "v1"}, {create, "pvc", "v2"}}, []string{"CreateVolume is not idempotent: volume v1, then v2"}},
		{"another volume each time", []step{{create, "pvc", "v1"}, {create, "pvc", "v2"}, {create, "pvc", "v3"}},
			[]string{"CreateVolume is not idempotent: volume v1, then v2"}},
		{"another volume after the first was deleted", []step{{create, "pvc", "v1"}, {remove, "", "v1"}, {create, "pvc", "v2"}}, nil},
		{"one volume for two names", []step{{create, "pvc-a", "v1"}, {create, "pvc-b", "v1"}},
			[]string{"CreateVolume answers with one id for two names: volume v1 for pvc-a, then for pvc-b"}},
		{"an id that is used again", []step{{create, "pvc-a", "v1"}, {remove, "", "v1"}, {create, "pvc-b", "v1"}}, nil},
		{"another snapshot", []step{{snap, "s", "s1"}, {snap, "s", "s2"}}, []string{"CreateSnapshot is not idempotent: snapshot s1, then s2"}},
		{"one snapshot for two names", []step{{snap, "s", "s1"}, {snap, "t", "s1"}},
			[]string{"CreateSnapshot answers with one id for two names: snapshot s1 for s, then for t"}},
		{"a volume and a snapshot of one name", []step{{create, "x", "x"}, {snap, "x", "x"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n Named
			var got []string
			for _, s := range c.steps {
				var found []verdict.Verdict
				switch s.method {
				case create:
					found = n.Answered(create, &csi.CreateVolumeRequest{Name: s.name}, &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: s.id}})
				case snap:
					found = n.Answered(snap, &csi.CreateSnapshotRequest{Name: s.name}, &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{SnapshotId: s.id}})
				default:
					found = n.Answered(remove, &csi.DeleteVolumeRequest{VolumeId: s.id}, &csi.DeleteVolumeResponse{})
				}
				for _, v := range found {
					got = append(got, fmt.Sprint(v))
				}
			}
			assert.Equal(t, c.want, got)
		})
	}
}
