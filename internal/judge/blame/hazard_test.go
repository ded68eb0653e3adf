package blame_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/judge/blame"
	"github.com/csisim/csisim/internal/world/trace"
)

// Given the events of a run, then the hazards that permanently prevented an effect are those that
// occurred in the run. K-REG-20 A-RS-3 A-NF-5 C-LIB-1
func TestKnownHazardsExplainAFailedWait(t *testing.T) {
	fault := func(at time.Duration, node string, part trace.Part, verb trace.Verb) *trace.Event {
		e := trace.Transition{Part: part, Name: "x", Verb: verb}.Entry(node)
		e.At = at
		return e.Event()
	}
	job := func(result string, retries int64) *trace.Event {
		status := map[string]any{"retries": retries}
		if result != "" {
			status["result"] = result
		}
		return trace.Entry{Kind: trace.API, Resource: "reclaimspacejobs", New: &unstructured.Unstructured{Object: map[string]any{"status": status}}}.Event()
	}
	fence := func(change, wanted, result string) *trace.Event {
		object := map[string]any{"spec": map[string]any{"fenceState": wanted}, "status": map[string]any{"result": result}}
		return trace.Entry{Kind: trace.API, Resource: "networkfences", Change: change, Old: &unstructured.Unstructured{Object: object}}.Event()
	}
	for _, c := range []struct {
		name   string
		events []*trace.Event
		rule   string // rule of the only hazard; empty for none
	}{
		{"a socket goes, and the kubelet dies before it looks", []*trace.Event{
			fault(1*time.Second, "node-a", trace.Registrar, trace.Stopped), fault(1500*time.Millisecond, "node-a", trace.Kubelet, trace.Killed), fault(4*time.Second, "node-a", trace.Kubelet, trace.Started),
		}, "K-REG-20"},
		{"a socket goes while the kubelet is down", []*trace.Event{
			fault(1*time.Second, "node-a", trace.Kubelet, trace.Killed), fault(2*time.Second, "node-a", trace.Registrar, trace.Stopped), fault(4*time.Second, "node-a", trace.Kubelet, trace.Started),
		}, "K-REG-20"},
		{"a socket goes, and the kubelet dies when it has looked", []*trace.Event{
			fault(1*time.Second, "node-a", trace.Registrar, trace.Stopped), fault(5*time.Second, "node-a", trace.Kubelet, trace.Killed),
		}, ""},
		{"a socket goes and comes back before the kubelet dies", []*trace.Event{
			fault(1*time.Second, "node-a", trace.Registrar, trace.Stopped), fault(1100*time.Millisecond, "node-a", trace.Registrar, trace.Started), fault(1500*time.Millisecond, "node-a", trace.Kubelet, trace.Killed),
		}, ""},
		{"the kubelet of another node dies", []*trace.Event{
			fault(1*time.Second, "node-a", trace.Registrar, trace.Stopped), fault(1500*time.Millisecond, "node-b", trace.Kubelet, trace.Killed),
		}, ""},
		{"a fence is deleted as it is", []*trace.Event{fence("DELETED", "Fenced", "Succeeded")}, "A-NF-5"},
		{"a fence is deleted before it is unfenced", []*trace.Event{fence("DELETED", "Unfenced", "Failed")}, "A-NF-5"},
		{"a fence is deleted that is unfenced", []*trace.Event{fence("DELETED", "Unfenced", "Succeeded")}, ""},
		{"a fence stays", []*trace.Event{fence("MODIFIED", "Unfenced", "Failed")}, ""},
		{"a sidecar exits, and is not restarted", []*trace.Event{fault(1*time.Second, "", trace.Controller, trace.ExitedForGood)}, "C-LIB-1"},
		{"a sidecar is killed", []*trace.Event{fault(1*time.Second, "", trace.Controller, trace.Killed)}, ""},
		{"a job is given up", []*trace.Event{job("", 6), job("Failed", 6)}, "A-RS-3"},
		{"a job succeeds at once", []*trace.Event{job("Succeeded", 0)}, ""},
		{"a job is tried again still", []*trace.Event{job("", 3)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rules []string
			for _, h := range blame.Hazards(c.events, time.Hour) {
				assert.True(t, h.ForGood, h.Is)
				rules = append(rules, h.Rules[0])
			}
			if c.rule == "" {
				assert.Empty(t, rules)
				return
			}
			assert.Equal(t, []string{c.rule}, rules)
		})
	}
}
