package check

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// The CSI spec permits a driver to refuse a mount option; then no trial uses one.
func TestAMountOptionIsRefusedUntilAVolumeIsPublishedWithIt(t *testing.T) {
	call := func(method string, request proto.Message, code string) *trace.Event {
		return &trace.Event{Site: &trace.Site{Kind: trace.Call, Method: method}, Exchange: &trace.Exchange{Request: request, Code: code}, Message: "noexec"}
	}
	created := call("Controller/CreateVolume", &csi.CreateVolumeRequest{}, "")
	for _, c := range []struct {
		name  string
		trace []*trace.Event
		want  string
	}{
		{"in CreateVolume", []*trace.Event{call("Controller/CreateVolume", &csi.CreateVolumeRequest{}, "InvalidArgument")}, "CreateVolume answers InvalidArgument: noexec"},
		{"in NodeStageVolume", []*trace.Event{created, call("Node/NodeStageVolume", &csi.NodeStageVolumeRequest{}, "Internal")}, "NodeStageVolume answers Internal: noexec"},
		{"nowhere", []*trace.Event{created, call("Node/NodePublishVolume", &csi.NodePublishVolumeRequest{}, "")}, ""},
		{"not for long", []*trace.Event{created, call("Node/NodePublishVolume", &csi.NodePublishVolumeRequest{}, "Unavailable"), call("Node/NodePublishVolume", &csi.NodePublishVolumeRequest{}, "")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused := refusedOption(&scenario.Result{Trace: c.trace})
			assert.Equal(t, c.want, refused)
			p := &plan{facts: &Facts{MountOptionRefused: refused}}
			assert.Equal(t, refused == "", p.needsMountOption() == "")
		})
	}
}
