package golden_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// race is a scenario with a race between real programs: each outcome must occur under some seed,
// and every run must pass without breaking a rule.
type race struct {
	scenario string // below scenarios
	about    string
	outcomes []outcome
}

type outcome struct {
	what   string
	occurs func(course) bool
}

// races are the races in the recordings.
var races = []race{
	{"races/double-calls", "csi-attacher and csi-provisioner are queued again by their own writes (fact 6)", []outcome{
		{"both calls once", func(c course) bool { return c.calls["ControllerPublishVolume"] == 1 && c.calls["DeleteVolume"] == 1 }},
		{"ControllerPublishVolume twice", func(c course) bool { return c.calls["ControllerPublishVolume"] == 2 }},
		{"DeleteVolume twice", func(c course) bool { return c.calls["DeleteVolume"] == 2 }},
	}},
	{"races/late-success", "the attach/detach controller looks on its own clock (fact 24)", []outcome{
		{"SuccessfulAttachVolume within a second of the answer", func(c course) bool { return c.got-c.attached < 1000 }},
		{"FailedAttachVolume once more, without a call, and SuccessfulAttachVolume seconds late", func(c course) bool {
			return c.got-c.attached > 1000 && c.warnings["FailedAttachVolume"] > 1
		}},
	}},
	{"races/still-attached", "csi-provisioner's cache and the end of a VolumeAttachment (fact 31)", []outcome{
		{"the volume is deleted at once", func(c course) bool { return c.warnings["VolumeFailedDelete"] == 0 }},
		{"VolumeFailedDelete, still attached, and a retry", func(c course) bool { return c.warnings["VolumeFailedDelete"] == 1 }},
	}},
	{"races/publish-cut-off", "a pod's deletion and the retry of a publish that was cut off (fact 52)", []outcome{
		{"the pod waits for the driver, NodeUnpublishVolume", func(c course) bool { return c.calls["NodePublishVolume"] == 1 && c.calls["NodeUnpublishVolume"] == 1 }},
		{"the pod goes, no NodeUnpublishVolume, only NodeUnstageVolume", func(c course) bool {
			return c.calls["NodeUnpublishVolume"] == 0 && c.calls["NodeUnstageVolume"] == 1
		}},
	}},
	{"golden/driver-dies-after-publish-deleted", "the same, deleted after seconds (fact 52)", []outcome{
		{"NodePublishVolume for the terminating pod, then NodeUnpublishVolume", func(c course) bool { return c.calls["NodePublishVolume"] == 2 && c.calls["NodeUnpublishVolume"] == 1 }},
	}},
}

// course holds the results of a run that depend on races.
type course struct {
	calls    map[string]int // number of calls that reached the driver, by method
	warnings map[string]int // by reason
	// The times at which the volume was attached and SuccessfulAttachVolume was emitted, in ms.
	attached, got int64
}

// enoughSeeds bounds the seeds that are tried for an outcome.
const enoughSeeds = 200

// raceSection runs each race under successive seeds until all its outcomes have occurred, and
// prints the first seed of each.
func raceSection(t *testing.T) string {
	var out strings.Builder
	out.WriteString("\n## Races\n\nIf real programs decide something by a race, the simulation has each recorded outcome under the named seed\n" +
		"(`csisim run scenarios/… --seed …`; `make golden` searches for the seeds again). No rule is broken in any of these runs.\n\n| Scenario | Race | Outcome | Seed |\n| --- | --- | --- | --- |\n")
	for _, r := range races {
		t.Run(r.scenario, func(t *testing.T) {
			seeds := r.seeds(t)
			for i, o := range r.outcomes {
				if assert.NotZero(t, seeds[i], "no seed up to %d gives: %s", enoughSeeds, o.what) {
					fmt.Fprintf(&out, "| %s | %s | %s | %d |\n", r.scenario, r.about, o.what, seeds[i])
				}
			}
		})
	}
	return out.String()
}

var seedColumn = regexp.MustCompile(`(?m)\| \d+ \|$`)

// withoutSeeds returns the page without the seeds of races. Any change to the simulation may change
// the first seed of an outcome.
func withoutSeeds(page string) string { return seedColumn.ReplaceAllString(page, "| seed |") }

// seeds returns the first seed with each outcome, 0 for none.
func (r race) seeds(t *testing.T) []uint64 {
	first, missing := make([]uint64, len(r.outcomes)), len(r.outcomes)
	for seed := uint64(1); seed <= enoughSeeds && missing > 0; seed++ {
		c := r.run(t, seed)
		for i, o := range r.outcomes {
			if first[i] == 0 && o.occurs(c) {
				first[i] = seed
				missing--
			}
		}
	}
	return first
}

func (r race) run(t *testing.T, seed uint64) course {
	s, err := scenario.Load(filepath.Join("..", r.scenario+".yaml"))
	require.NoError(t, err)
	var text bytes.Buffer
	sink, flush := trace.Writer(&text)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Seed: seed, Sinks: []trace.Sink{sink}})
	require.NoError(t, err)
	require.NoError(t, flush())
	for _, f := range result.Failures {
		t.Errorf("seed %d: %s", seed, f.Text(result.Names))
	}
	lines, err := trace.Read(&text)
	require.NoError(t, err)
	return courseOf(lines)
}

func courseOf(lines []trace.Line) course {
	c := course{calls: map[string]int{}, warnings: map[string]int{}}
	for _, l := range lines {
		switch {
		case l.K == trace.Call && !strings.HasPrefix(l.Msg, "connection error"):
			c.calls[filepath.Base(l.M)]++
		case l.K == trace.KubeEvent && l.R == "Warning":
			c.warnings[l.M]++
		case l.K == trace.KubeEvent && l.M == "SuccessfulAttachVolume":
			c.got = l.T
		case l.K == trace.API && l.R == "volumeattachments" && attachedBy(l):
			c.attached = l.T
		}
	}
	return c
}

func attachedBy(l trace.Line) bool {
	status, ok := l.Patch["status"].(map[string]any)
	return ok && status["attached"] == true
}
