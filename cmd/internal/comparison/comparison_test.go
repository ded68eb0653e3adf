package comparison_test

import (
	"bytes"
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/comparison"
	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/world/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// recording returns a trace of a real cluster.
func recording(t *testing.T, name string) []trace.Line {
	t.Helper()
	file, err := os.Open("../../../scenarios/golden/" + name + ".jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines, err := trace.Read(file)
	require.NoError(t, err)
	return lines
}

const name = "lifecycle-stub"

// without returns a trace without the calls of a method.
func without(lines []trace.Line, method string) []trace.Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l trace.Line) bool { return l.K == trace.Call && l.M == method })
}

// answered returns a trace in which the calls of a method fail with a code.
func answered(lines []trace.Line, method, code string) []trace.Line {
	all := slices.Clone(lines)
	for i, l := range all {
		if l.K == trace.Call && l.M == method {
			all[i].Code = code
		}
	}
	return all
}

// of returns the differences on a level.
func of(c *comparison.Comparison, level diff.Level) comparison.Level {
	return c.Levels[slices.IndexFunc(c.Levels, func(l comparison.Level) bool { return l.Level == level })]
}

func TestEqualRunsHaveNoNoise(t *testing.T) {
	run, again := recording(t, name), recording(t, "repeats/"+name)
	c := comparison.Of(run, run, again)
	assert.True(t, c.Good())
	assert.Zero(t, c.Noise())
	assert.Equal(t, "equal: the simulation and 2 real runs are equal on all levels", c.Verdict())
	assert.NotZero(t, of(c, diff.Calls).Compared)
}

// If the simulation differs from all real runs, this is a mistake of the simulation, for any number
// of real runs.
func TestDifferencesFromAllRealRunsAreWrong(t *testing.T) {
	run := recording(t, name)
	for _, real := range [][][]trace.Line{{without(run, "Node/NodeStageVolume")}, {without(run, "Node/NodeStageVolume"), without(run, "Node/NodeStageVolume")}} {
		c := comparison.Of(run, real...)
		assert.False(t, c.Good())
		assert.NotEmpty(t, of(c, diff.Calls).Wrong)
		assert.Empty(t, of(c, diff.Calls).Noise)
		assert.Contains(t, c.Verdict(), "different: the simulation differs from")
	}
}

// The simulation equals one of two real runs that differ.
func TestDifferencesBetweenRealRunsAreNoise(t *testing.T) {
	run := recording(t, name)
	for _, real := range [][][]trace.Line{{run, without(run, "Node/NodeStageVolume")}, {without(run, "Node/NodeStageVolume"), run}} {
		c := comparison.Of(run, real...)
		assert.True(t, c.Good())
		assert.NotEmpty(t, of(c, diff.Calls).Noise)
		assert.Contains(t, c.Verdict(), "equal within noise")
	}
}

// The simulation equals neither of two real runs that differ in the same place.
func TestDifferencesBetweenRealRunsProveNothingAboutTheSimulation(t *testing.T) {
	run := recording(t, name)
	c := comparison.Of(run, answered(run, "Node/NodeStageVolume", "Internal"), answered(run, "Node/NodeStageVolume", "Aborted"))
	assert.Empty(t, of(c, diff.Calls).Wrong)
	assert.NotEmpty(t, of(c, diff.Calls).Noise)
}

// Noise in one place does not hide a difference in another place.
func TestNoiseHidesNoOtherDifference(t *testing.T) {
	run := recording(t, name)
	first := without(run, "Node/NodeUnstageVolume")
	c := comparison.Of(run, first, without(first, "Node/NodeStageVolume"))
	assert.False(t, c.Good())
	assert.NotEmpty(t, of(c, diff.Calls).Wrong)
	assert.NotEmpty(t, of(c, diff.Calls).Noise)
}

// A level that no real run has recorded is neither equal nor different.
func TestALevelThatIsNotRecordedIsNamed(t *testing.T) {
	run := recording(t, name)
	c := comparison.Of(run, slices.DeleteFunc(slices.Clone(run), func(l trace.Line) bool { return l.K == trace.Runtime }))
	assert.True(t, of(c, diff.Runtime).Unseen)
	assert.True(t, c.Good())
}

func TestAFailedRunIsNotGood(t *testing.T) {
	run := recording(t, name)
	c := comparison.Of(run, run)
	c.Failed = []string{"real run 1"}
	assert.False(t, c.Good())
	assert.Contains(t, c.Verdict(), "failed: real run 1 did not pass")
}

func TestReports(t *testing.T) {
	run := recording(t, name)
	first := without(run, "Node/NodeUnstageVolume")
	c := comparison.Of(run, first, without(first, "Node/NodeStageVolume"))
	for file, write := range map[string]func(*bytes.Buffer) error{
		"text":     func(out *bytes.Buffer) error { return c.Text(out, false) },
		"markdown": func(out *bytes.Buffer) error { return c.Markdown(out, name, []string{"A is the simulation"}) },
	} {
		var out bytes.Buffer
		require.NoError(t, write(&out))
		golden := "testdata/" + file + ".golden"
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(golden, out.Bytes(), 0o644))
		}
		want, err := os.ReadFile(golden)
		require.NoError(t, err)
		assert.Equal(t, string(want), out.String())
	}
}

// It is a race whether the scheduler processes a pod before its claim is bound. The same outcome in
// all real runs proves nothing about the simulation. C-SCHED-1
func TestAKnownRaceIsNoise(t *testing.T) {
	const name = "statefulset"
	run := recording(t, name)
	bound := slices.DeleteFunc(slices.Clone(run), func(l trace.Line) bool {
		return l.K == trace.KubeEvent && strings.Contains(l.Msg, "unbound immediate PersistentVolumeClaims")
	})
	require.Less(t, len(bound), len(run))
	c := comparison.Of(run, bound, bound)
	assert.True(t, c.Good())
	assert.Empty(t, of(c, diff.Events).Wrong)
	assert.NotZero(t, c.Races())
	assert.Contains(t, c.Verdict(), "and known races (")
	var out bytes.Buffer
	require.NoError(t, c.Text(&out, true))
	assert.Contains(t, out.String(), "a race: whether the scheduler processes a pod before its claim is bound")
}

// If a watch delivers a cause after its effect, this is a race, too. If the cause is missing, it is
// not a race.
func TestACauseThatIsSeenLateIsNoise(t *testing.T) {
	run := recording(t, name)
	attached := slices.IndexFunc(run, func(l trace.Line) bool { return l.R == "volumeattachments" && l.Ev == "ADDED" })
	called := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == "Controller/ControllerPublishVolume" })
	require.True(t, 0 <= attached && attached < called)
	late := slices.Clone(run)
	late[attached].T = late[called].T + 100
	c := comparison.Of(run, late, late)
	assert.Empty(t, of(c, diff.Objects).Wrong)
	assert.NotZero(t, c.Races())

	never := slices.Delete(slices.Clone(run), attached, attached+1)
	assert.NotEmpty(t, of(comparison.Of(run, never, never), diff.Objects).Wrong)
}

// A kubelet checks every minute, counted from its own start, which volumes have statistics. One
// additional check while a pod runs is noise.
func TestAnAdditionalStatisticsCallIsNoise(t *testing.T) {
	run := recording(t, name)
	unpublished := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == "Node/NodeUnpublishVolume" })
	asked := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == "Node/NodeGetCapabilities" })
	require.Positive(t, unpublished)
	require.Positive(t, asked)
	look := run[asked]
	look.T = run[unpublished].T - 300
	more := func(times int) []trace.Line {
		return slices.Insert(slices.Clone(run), unpublished, slices.Repeat([]trace.Line{look}, times)...)
	}
	c := comparison.Of(run, more(1))
	assert.Empty(t, of(c, diff.Calls).Wrong)
	assert.NotZero(t, c.Races())
	assert.NotEmpty(t, of(comparison.Of(run, more(2)), diff.Calls).Wrong, "a pod does not run for two minutes in an instant")
	assert.NotEmpty(t, of(comparison.Of(more(1), run), diff.Calls).Wrong, "a simulation that asks more is wrong")
}

// The time until containers end depends on the node, up to a bound: on a busy node the kubelet
// unmounts their volumes later.
func TestAContainerThatEndsSlowlyIsNoise(t *testing.T) {
	run := recording(t, name)
	unpublished := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == "Node/NodeUnpublishVolume" })
	require.Positive(t, unpublished)
	later := func(by int64) []trace.Line {
		late := slices.Clone(run)
		for i := unpublished; i < len(late); i++ {
			late[i].T += by
		}
		return late
	}
	c := comparison.Of(run, later(3_000), later(3_000))
	assert.Empty(t, of(c, diff.Gaps).Wrong)
	assert.NotZero(t, c.Races())
	assert.NotEmpty(t, of(comparison.Of(run, later(9_000), later(9_000)), diff.Gaps).Wrong, "that is no container's end")
	assert.NotEmpty(t, of(comparison.Of(later(3_000), run, run), diff.Gaps).Wrong, "a simulation that is slow is wrong")

	isPod := func(l trace.Line) bool { return l.K == trace.API && l.R == "pods" && l.Ev == "MODIFIED" }
	alone := func(lines []trace.Line) []trace.Line { return slices.DeleteFunc(slices.Clone(lines), isPod) }
	c = comparison.Of(alone(run), alone(later(3_000)), alone(later(3_000)))
	assert.Empty(t, of(c, diff.Gaps).Wrong, "the call before is that which published the volume")
	assert.NotZero(t, c.Races())
}

// A sidecar that was killed in a call repeats it when its container has started, up to a bound.
func TestASidecarThatStartsSlowlyIsNoise(t *testing.T) {
	killed := func(method string, by int64) []trace.Line {
		run := recording(t, name)
		i := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == method })
		require.Positive(t, i)
		first := run[i]
		first.Code, first.Resp = "Canceled", nil
		for j := i; j < len(run); j++ {
			run[j].T += by
		}
		return slices.Insert(run, i, first)
	}
	const attach = "Controller/ControllerPublishVolume"
	c := comparison.Of(killed(attach, 3_000), killed(attach, 6_800), killed(attach, 6_800))
	assert.Empty(t, of(c, diff.Gaps).Wrong)
	assert.NotZero(t, c.Races())
	assert.NotEmpty(t, of(comparison.Of(killed(attach, 3_000), killed(attach, 12_000), killed(attach, 12_000)), diff.Gaps).Wrong, "that is no container's start")
	assert.NotEmpty(t, of(comparison.Of(killed(attach, 6_800), killed(attach, 3_000), killed(attach, 3_000)), diff.Gaps).Wrong, "a simulation that is slow is wrong")
}

// csi-provisioner may delete a volume up to three times, and csi-attacher attach it twice. If real
// clusters repeat a call and the simulation never does, the simulation is wrong.
func TestACallThatASidecarRepeatsIsNoise(t *testing.T) {
	run := recording(t, name)
	for method, most := range map[string]int{"Controller/DeleteVolume": 3, "Controller/ControllerPublishVolume": 2} {
		made := slices.IndexFunc(run, func(l trace.Line) bool { return l.M == method })
		require.Positive(t, made)
		times := func(n int) []trace.Line {
			more := slices.Clone(run)
			for i := range n - 1 {
				line := run[made]
				line.T += int64(i+1) * 400
				more = append(more, line)
			}
			slices.SortStableFunc(more, func(a, b trace.Line) int { return cmp.Compare(a.T, b.T) })
			return more
		}
		c := comparison.Of(run, times(most), times(most))
		assert.Empty(t, of(c, diff.Calls).Wrong, method)
		assert.NotZero(t, c.Races(), method)
		assert.NotEmpty(t, of(comparison.Of(run, times(most+1), times(most+1)), diff.Calls).Wrong, method)
		assert.NotEmpty(t, of(comparison.Of(without(run, method), run, run), diff.Calls).Wrong, method)
	}
}
