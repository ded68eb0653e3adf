package calls_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestADriverThatNeverUnmountsABrokenFileSystemGetsANote(t *testing.T) {
	const remark = "NodeUnpublishVolume fails as long as the mounted file system fails, so the pod cannot end: stale"
	const broken = trace.Effect(fault.FailMounted)
	fails, works, withoutFault := unpublished("Internal", broken), unpublished("", broken), unpublished("Internal", "")
	for _, tt := range []struct {
		name   string
		events []*trace.Event
		want   []string
	}{
		{"three failures in a row", []*trace.Event{fails, fails, fails}, []string{remark}},
		{"six are one remark", []*trace.Event{fails, fails, fails, fails, fails, fails}, []string{remark}},
		{"it unmounts when it is called again", []*trace.Event{fails, fails, works, fails}, nil},
		{"failures without the fault", []*trace.Event{withoutFault, withoutFault, withoutFault}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var found []string
			for _, v := range calls.StaysMounted(tt.events) {
				found = append(found, v.Text)
				assert.NotEmpty(t, calls.Advice(v))
			}
			assert.Equal(t, tt.want, found)
		})
	}
}

func unpublished(code string, effect trace.Effect) *trace.Event {
	e := &trace.Event{
		Site:     &trace.Site{Kind: trace.Call, Node: "node-a", Method: "Node/NodeUnpublishVolume"},
		Exchange: &trace.Exchange{Request: &csi.NodeUnpublishVolumeRequest{VolumeId: "vol-1", TargetPath: "/target"}, Code: code},
	}
	e.Effect = effect
	if code != "" {
		e.Message = "stale"
	}
	return e
}
