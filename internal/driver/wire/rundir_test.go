package wire

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A driver's answer is recorded identically in every run, and the driver receives its own values
// back.
func TestTheDirectoryOfTheRunHasOneNameInRecords(t *testing.T) {
	w := &Wire{RunDir: "/tmp/csisim-17-1"}
	answer := &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId:           "/tmp/csisim-17-1/state/a",
		VolumeContext:      map[string]string{"path": "/tmp/csisim-17-1/state/a", "size": "1"},
		AccessibleTopology: []*csi.Topology{{Segments: map[string]string{"dir": "x:/tmp/csisim-17-1"}}},
	}}
	original := proto.Clone(answer)
	assert.NoError(t, w.received(answer, nil))
	recorded := &csi.CreateVolumeResponse{Volume: &csi.Volume{
		VolumeId:           "/run/csisim/state/a",
		VolumeContext:      map[string]string{"path": "/run/csisim/state/a", "size": "1"},
		AccessibleTopology: []*csi.Topology{{Segments: map[string]string{"dir": "x:/run/csisim"}}},
	}}
	assert.True(t, proto.Equal(recorded, answer), "%v", answer)

	assert.True(t, proto.Equal(original, w.sent(answer)), "the driver gets its own words")
	assert.True(t, proto.Equal(recorded, answer), "the record is unchanged")
	other := &csi.DeleteVolumeRequest{VolumeId: "vol-1"}
	assert.Same(t, other, w.sent(other))

	err := w.received(nil, status.Error(codes.Internal, "mount /tmp/csisim-17-1/state/a: busy"))
	assert.Equal(t, codes.Internal, status.Code(err))
	assert.Equal(t, "mount /run/csisim/state/a: busy", status.Convert(err).Message())
}

// Calls that read or change the same objects have the same matter.
func TestTheMatterOfACall(t *testing.T) {
	for _, test := range []struct {
		request proto.Message
		things  []string
	}{
		{&csi.NodeStageVolumeRequest{VolumeId: "v"}, []string{"v"}},
		{&csi.CreateVolumeRequest{Name: "pvc-1"}, []string{"pvc-1"}},
		{&csi.CreateVolumeRequest{Name: "pvc-1", VolumeContentSource: &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
			Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: "v"}}}}, []string{"pvc-1", "v"}},
		{&csi.CreateSnapshotRequest{Name: "snap", SourceVolumeId: "v"}, []string{"snap", "v"}},
		{&csi.DeleteSnapshotRequest{SnapshotId: "s"}, []string{"s"}},
		{&csi.CreateVolumeGroupSnapshotRequest{Name: "g", SourceVolumeIds: []string{"v", "w"}}, []string{"g", "v", "w"}},
		{&csi.NodeGetInfoRequest{}, nil},
	} {
		assert.Equal(t, test.things, thingsOf(test.request), "%T", test.request)
	}
}
