package mock

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

func TestOptionsThatContradictEachOtherAreRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"nor the minimum more than the maximum":          {MinimumVolumeBytes: 2, MaximumVolumeBytes: 1},
		"must not be negative":                           {MaximumVolumeBytes: -1},
		"idsFromNames and volumeIDPrefix exclude":        {IDsFromNames: true, VolumeIDPrefix: "v-"},
		"faulty create-not-idempotent makes several":     {IDsFromNames: true, Faulty: []string{"create-not-idempotent"}},
		"faulty snapshot-not-idempotent makes several":   {IDsFromNames: true, Faulty: []string{"snapshot-not-idempotent"}},
		"listVolumesPublishedNodes needs listVolumes or": {ListVolumesPublishedNodes: true},
	} {
		assert.ErrorContains(t, o.Validate(), want)
	}
}

// CSI "GetCapacity", fields maximum_volume_size and minimum_volume_size.
func TestVolumesHaveTheSizesThatGetCapacityReports(t *testing.T) {
	sizes := Options{GetCapacity: true, MinimumVolumeBytes: 32, MaximumVolumeBytes: 64, ControllerExpand: true}
	answer, err := newWorld(sizes).c.GetCapacity(t.Context(), &csi.GetCapacityRequest{})
	require.NoError(t, err)
	assert.EqualValues(t, 32, answer.GetMinimumVolumeSize().GetValue())
	assert.EqualValues(t, 64, answer.GetMaximumVolumeSize().GetValue())
	plain, err := newWorld(Options{GetCapacity: true}).c.GetCapacity(t.Context(), &csi.GetCapacityRequest{})
	require.NoError(t, err)
	assert.Nil(t, plain.GetMaximumVolumeSize())

	checkRPC(t, []rpcCase{
		{"as big as may be", sizes, nil, create(multiWriter, size(64, 0)), codes.OK},
		{"bigger", sizes, nil, create(multiWriter, size(65, 0)), codes.OutOfRange},
		{"smaller is made bigger", sizes, steps(create(multiWriter, size(1, 0))), create(multiWriter, size(32, 32)), codes.OK},
		{"smaller by its limit", sizes, nil, create(multiWriter, size(1, 31)), codes.OutOfRange},
	})
	w := given(t, sizes, create(multiWriter, size(64, 0)))
	_, err = w.c.ControllerExpandVolume(t.Context(), &csi.ControllerExpandVolumeRequest{VolumeId: "vol-0001", CapacityRange: &csi.CapacityRange{RequiredBytes: 65}})
	assert.Equal(t, codes.OutOfRange, code(err))
}

func TestIdsAreNames(t *testing.T) {
	o := everything()
	o.IDsFromNames = true
	w := given(t, o, create(multiWriter, named("pvc-1")))
	assert.Equal(t, "pvc-1", w.d.Volumes()[0].ID)
	_, err := w.c.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "snapshot-1", SourceVolumeId: "pvc-1"})
	require.NoError(t, err)
	assert.Equal(t, "snapshot-1", w.d.Snapshots()[0].ID)
}

// Like many drivers, a driver that is not strict checks only the volume id. It still rejects a
// different size.
func TestADriverThatIsNotStrict(t *testing.T) {
	lax, strict := Options{Strict: off()}, Options{}
	context := func(o Options) rpcCase {
		return rpcCase{"another volume_context", o, steps(create(multiWriter)), func(w *world) error {
			_, err := w.c.ControllerPublishVolume(t.Context(), &csi.ControllerPublishVolumeRequest{
				VolumeId: "vol-0001", NodeId: "a", VolumeCapability: capability(multiWriter), VolumeContext: map[string]string{"other": "x"}})
			return err
		}, codes.OK}
	}
	refused := context(strict)
	refused.rule, refused.want = "another volume_context, strictly", codes.InvalidArgument
	checkRPC(t, []rpcCase{
		context(lax), refused,
		{"other parameters", lax, steps(create(multiWriter, parameter("a"))), create(multiWriter, parameter("b")), codes.OK},
		{"other parameters, strictly", strict, steps(create(multiWriter, parameter("a"))), create(multiWriter, parameter("b")), codes.AlreadyExists},
		{"another size", lax, steps(create(multiWriter, size(32, 32))), create(multiWriter, size(64, 64)), codes.AlreadyExists},
	})
}
