package calls

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

// A pod's lost data, and Kubernetes Events about a volume, belong to the volume that the message
// names.
func TestAMessageThatNamesAVolumeIsAboutIt(t *testing.T) {
	n := &Names{byPV: map[string]*volume{"pv-1": {pv: "pv-1", claim: "data", alias: "data"}, "pv-12": {pv: "pv-12", claim: "logs", alias: "logs"}}}
	about := func(kind trace.Kind, message string) string {
		return n.About(&trace.Event{Site: &trace.Site{Kind: kind}, Exchange: &trace.Exchange{}, Diff: &trace.Diff{}, Message: message})
	}
	assert.Equal(t, "logs", about(trace.DataLost, "pod default/web does not find its data: volume pv-12 at /pods/web on node-a"))
	assert.Equal(t, "data", about(trace.KubeEvent, `Multi-Attach error for volume "pv-1"`))
	assert.Empty(t, about(trace.DataLost, "pod default/web does not find its data: volume scratch"))
	assert.Empty(t, about(trace.Step, "wait for pv-1"))
}
