package explore

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/blame"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
)

// found searches with killed programs and returns the finding of a pod that does not run.
func found(t *testing.T, text string, runs int) *Finding {
	t.Helper()
	o := usual(runs)
	o.Space.Kinds = []fault.Kind{fault.Crashed}
	s, err := Of(context.Background(), fileOf("lifecycle"), []byte(text), o)
	require.NoError(t, err)
	for _, f := range s.Findings {
		if f.Name == "timed out waiting for the condition: pod … in phase Running" {
			return f
		}
	}
	require.Fail(t, "no pod waits too long", "%d findings", len(s.Findings))
	return nil
}

// Given a volume that moves to another node. When kube-controller-manager is killed between two of
// its writes, the node's status no longer lists the volume, and the attachment is not yet deleted.
// Then the pod waits for more than four minutes: the controller regards the volume as mounted until
// the node's next report, and csi-attacher backs off. No driver is responsible, and the known
// hazards of Kubernetes are named. C-ADC-6 C-ADC-40 C-ATT-3
func TestADelayIsAKnownHazard(t *testing.T) {
	text := strings.Replace(string(textOf(t, "lifecycle")), "{pod: moved, phase: Running}", "{pod: moved, phase: Running, for: 4m}", 1)
	f := found(t, text, 200)
	assert.Equal(t, verdict.Kubernetes, f.Blame)
	assert.Greater(t, f.Late, 5*time.Minute)
	assert.Less(t, f.Late, 20*time.Minute)
	assert.False(t, f.Fails())
	var rules []string
	for _, h := range f.Hazards {
		rules = append(rules, h.Rules...)
	}
	assert.Equal(t, []string{"C-ADC-6", "C-ADC-40", "K-ATT-2", "C-ATT-3", "C-GEN-6", "K-OP-3"}, rules)
	calm := rerun(t, "lifecycle", []byte(text), kernel.Calm{})
	assert.Empty(t, blame.Hazards(calm.Trace, calm.VirtualTime), "none befalls a calm run")
}

// Given a kubelet that does not repeat a rejected status update, when the API therefore never shows
// a running pod, then no known hazard explains it.
func TestAnEffectThatNeverHappensIsNoKnownHazard(t *testing.T) {
	seeded.Plant(t, seeded.StatusWrittenOnce)
	o := usual(1)
	o.Space.Kinds = []fault.Kind{fault.API}
	f := findWith(t, mistake{want: "timed out waiting for the condition: pod … in phase Running", scenario: "lifecycle"}, textOf(t, "lifecycle"), o)
	s := &Search{options: o, file: fileOf("lifecycle"), text: textOf(t, "lifecycle")}
	s.waitLonger(context.Background(), f)
	assert.True(t, f.Never)
	assert.Zero(t, f.Late)
	assert.True(t, f.Fails())
}

// Given a driver that rejects an attachment that it has already made. When its first answer comes
// too late, and the scenario ends before the next attempt, then the driver is still responsible: a
// longer run shows it.
func TestADriverIsToBlameForDefectsThatALongerRunShows(t *testing.T) {
	text := strings.Replace(string(textOf(t, "lifecycle", "attach-not-idempotent")), "- wait: {pod: web, phase: Running}", "- wait: {pvc: data, phase: Bound}\n- wait: {pod: web, phase: Running, for: 12s}", 1)
	o := usual(30)
	o.Space.Kinds = []fault.Kind{fault.Late}
	s, err := Of(context.Background(), fileOf("lifecycle"), []byte(text), o)
	require.NoError(t, err)
	require.NotEmpty(t, s.Findings)
	f := s.Findings[0]
	assert.Equal(t, "timed out waiting for the condition: pod … in phase Running", f.Name)
	assert.True(t, f.Never)
	assert.Zero(t, f.Late)
	assert.Equal(t, verdict.Driver, f.Blame)
	assert.Contains(t, f.Instead, "ControllerPublishVolume fails for good: Internal: volume ")
	assert.True(t, f.Fails())
}
