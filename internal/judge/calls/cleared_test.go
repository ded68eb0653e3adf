package calls_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestErrorsThatClearUpAreRemarksOnlyWithoutFaults(t *testing.T) {
	fault := &trace.Event{Site: &trace.Site{Kind: trace.FaultFired}, Exchange: &trace.Exchange{}}
	for _, tt := range []struct {
		name   string
		events []*trace.Event
		want   []string
	}{
		{"Internal, then OK", []*trace.Event{unstaged("vol-1", "Internal"), unstaged("vol-1", "")},
			[]string{"NodeUnstageVolume is answered with Internal, and with OK when it is repeated, though no fault was injected: busy"}},
		{"twice, of two volumes", []*trace.Event{unstaged("vol-1", "Unknown"), unstaged("vol-2", "Unknown"), unstaged("vol-1", ""), unstaged("vol-2", "")},
			[]string{"NodeUnstageVolume is answered with Unknown, and with OK when it is repeated, though no fault was injected: busy"}},
		{"a condition that passes", []*trace.Event{unstaged("vol-1", "FailedPrecondition"), unstaged("vol-1", "")}, nil},
		{"of another volume", []*trace.Event{unstaged("vol-1", "Internal"), unstaged("vol-2", "")}, nil},
		{"after a fault", []*trace.Event{fault, unstaged("vol-1", "Internal"), unstaged("vol-1", "")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var texts []string
			for _, v := range calls.ClearedUp(tt.events) {
				assert.True(t, v.Remark)
				assert.Equal(t, tt.name == "twice, of two volumes", v.More == 1)
				texts = append(texts, v.Text)
			}
			assert.Equal(t, tt.want, texts)
		})
	}
}

// unstaged returns a call that unstages a volume.
func unstaged(volume, code string) *trace.Event {
	e := &trace.Event{
		Site:     &trace.Site{Kind: trace.Call, Driver: "d", Node: "node-a", Method: "Node/NodeUnstageVolume"},
		Exchange: &trace.Exchange{Request: &csi.NodeUnstageVolumeRequest{VolumeId: volume}, Code: code},
	}
	if code == "" {
		e.Response = &csi.NodeUnstageVolumeResponse{}
	} else {
		e.Message = "busy"
	}
	return e
}
