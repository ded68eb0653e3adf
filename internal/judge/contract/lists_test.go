package contract

import (
	"strconv"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestPagesHaveTheEntriesOfAFullList(t *testing.T) {
	for _, c := range []struct {
		name                 string
		before, paged, after []string
		wrong                string
	}{
		{"all of it", []string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}, ""},
		{"one is added or removed meanwhile", []string{"a", "b"}, []string{"a"}, []string{"a", "c"}, ""},
		{"one is missing", []string{"a", "b"}, []string{"a"}, []string{"a", "b"}, "ListVolumes leaves out on its pages what it lists at once: b is on no page of max_entries 1"},
		{"one comes twice", []string{"a", "b"}, []string{"a", "b", "b"}, []string{"a", "b"}, "ListVolumes lists something on two pages: b is on 2 pages of max_entries 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := CheckPages("Controller/ListVolumes", c.before, c.paged, c.after, 1)
			if c.wrong == "" {
				assert.Empty(t, found)
				return
			}
			assert.Equal(t, c.wrong, found[0].String())
		})
	}
}

// CSI "ControllerPublishVolume": ALREADY_EXISTS means that the volume is published at the node.
// Other errors say nothing about it.
func TestOnlyAlreadyExistsShowsAnAttachmentThatStays(t *testing.T) {
	request := &csi.ControllerUnpublishVolumeRequest{VolumeId: "v", NodeId: "a"}
	for code, wrong := range map[codes.Code]bool{
		codes.OK: false, codes.FailedPrecondition: false, codes.Aborted: false, codes.InvalidArgument: false, codes.AlreadyExists: true,
	} {
		found := CheckDetached(request, status.Error(code, "still there"))
		assert.Equal(t, wrong, len(found) > 0, code)
	}
}

// CSI "Volume": a capacity of 0 is unknown.
func TestAVolumeIsListedWithItsCapacity(t *testing.T) {
	made := &csi.Volume{VolumeId: "v", CapacityBytes: 32}
	for listed, wrong := range map[int64]bool{0: false, 16: true, 32: false, 64: false} {
		found := CheckCapacity("Controller/ListVolumes", &csi.ListVolumesResponse{}, "entries.volume.capacity_bytes", &csi.Volume{VolumeId: "v", CapacityBytes: listed}, made)
		assert.Equal(t, wrong, len(found) > 0, listed)
	}
	assert.Empty(t, CheckCapacity("Controller/ListVolumes", &csi.ListVolumesResponse{}, "entries.volume.capacity_bytes", &csi.Volume{CapacityBytes: 16}, &csi.Volume{}), "CreateVolume answered no capacity")
}

// C-SNAP-37: csi-snapshotter assumes that a listed snapshot exists.
func TestADeletedSnapshotIsNotListed(t *testing.T) {
	notFound := status.Error(codes.NotFound, "no such snapshot")
	for _, c := range []struct {
		name                    string
		before, filtered, after []string
		err                     error
		wrong                   string
		remark                  bool
	}{
		{"an empty list", []string{"b"}, nil, []string{"b"}, nil, "", false},
		{"it is deleted later", []string{"a", "b"}, []string{"a"}, []string{"a", "b"}, nil, "", false},
		{"it is deleted after the list", []string{"a"}, []string{"a"}, nil, nil, "", false},
		{"it is in no whole list", []string{"b"}, []string{"a"}, []string{"b"}, nil, "ListSnapshots lists a deleted snapshot: a, asked for with its snapshot_id", false},
		{"an error", nil, nil, nil, notFound, "ListSnapshots fails for the id of a deleted snapshot: NotFound (no such snapshot)", true},
		{"a driver that is busy", nil, nil, nil, status.Error(codes.Unavailable, "later"), "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			found := CheckDeletedSnapshot("a", c.before, c.filtered, c.after, c.err)
			if c.wrong == "" {
				assert.Empty(t, found)
				return
			}
			assert.Equal(t, c.wrong, found[0].String())
			assert.Equal(t, c.remark, found[0].Remark)
		})
	}
}

// Checking a list of very many volumes with the same mistake takes little time, and the mistake is
// reported a few times.
func TestManyBreachesOfOneRuleAreFew(t *testing.T) {
	const many = 60_000
	var ids []string
	answer := &csi.ListVolumesResponse{}
	for i := range many {
		ids = append(ids, strconv.Itoa(i))
		answer.Entries = append(answer.Entries, &csi.ListVolumesResponse_Entry{Volume: &csi.Volume{VolumeId: strconv.Itoa(i), CapacityBytes: -1}})
	}
	began := time.Now()
	assert.Len(t, CheckResponse("Controller/ListVolumes", &csi.ListVolumesRequest{}, answer, nil), mostOfOne)
	assert.Empty(t, CheckPages("Controller/ListVolumes", ids, ids, ids, 1))
	assert.Empty(t, CheckFilter("Controller/ListVolumes", "a filter", ids, ids, ids))
	assert.Less(t, time.Since(began), time.Minute)
}
