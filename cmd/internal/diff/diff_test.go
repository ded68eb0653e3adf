package diff

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/trace"
)

const recordings = "../../../scenarios/golden/"

func recording(t *testing.T, name string) []trace.Line {
	t.Helper()
	file, err := os.Open(recordings + name + ".jsonl")
	require.NoError(t, err)
	defer file.Close()
	lines, err := trace.Read(file)
	require.NoError(t, err)
	require.NotEmpty(t, lines)
	return lines
}

func described(t *testing.T, r *Report) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, r.Text(&out, TextOptions{Width: 160}))
	return out.String()
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(recordings + folder + "*.jsonl")
	require.NoError(t, err)
	for _, f := range files {
		all = append(all, folder+strings.TrimSuffix(filepath.Base(f), ".jsonl"))
	}
	return all
}

// Different versions in two traces are neither a difference nor a use of a tolerance.
func TestTheVersionsOfTracesAreNotCompared(t *testing.T) {
	run := recording(t, "lifecycle-attach")
	versions := trace.Line{K: trace.MadeWith, Obj: map[string]any{"csisim": "v0.9.0", "kubernetes": "1.34"}}
	with := append([]trace.Line{versions}, run...)
	assert.Equal(t, described(t, Compare(run, run)), described(t, Compare(with, run)))
}

// Recordings contain no restarts, and the recorded runtime stopped its containers before a reboot.
func TestRestartsAreComparedBetweenSimulatedRuns(t *testing.T) {
	run := func(seq uint64, status map[string]any) []trace.Line {
		pod := trace.Line{K: trace.API, Ev: "ADDED", R: "pods", Name: "default/web", Obj: map[string]any{"status": map[string]any{"phase": "Pending"}}}
		return []trace.Line{{K: trace.Step, Seq: seq}, pod, {K: trace.API, Ev: "MODIFIED", R: "pods", Name: "default/web", Patch: map[string]any{"status": status}}}
	}
	once := map[string]any{"container": "terminated Unknown", "restarts": 1.0}
	never := map[string]any{"container": "terminated"}
	assert.True(t, Compare(run(0, never), run(1, once)).Equal())
	assert.Equal(t, "status.container, status.restarts", Compare(run(1, never), run(1, once)).Differences[0].What)
}

// Two recordings of the same scenario on a real cluster are equal: the tolerances are wide enough.
func TestEveryRecordingEqualsItsRepeat(t *testing.T) {
	repeats := names(t, "repeats/")
	require.Greater(t, len(repeats), 40)
	for _, repeat := range repeats {
		name := strings.TrimPrefix(repeat, "repeats/")
		t.Run(name, func(t *testing.T) {
			for _, report := range []*Report{
				Compare(recording(t, name), recording(t, repeat)),
				Compare(recording(t, repeat), recording(t, name)),
			} {
				assert.True(t, report.Equal(), described(t, report))
				assert.Greater(t, report.Compared[Calls], 1)
				assert.Greater(t, report.Compared[Objects], 5)
			}
		})
	}
}

func TestEveryRecordingEqualsItself(t *testing.T) {
	for _, name := range names(t, "") {
		report := Compare(recording(t, name), recording(t, name))
		assert.True(t, report.Equal(), described(t, report))
	}
}

// Recordings of different scenarios are not equal: the tolerances are narrow enough.
func TestDifferentScenariosDiffer(t *testing.T) {
	all := names(t, "")
	for i := 1; i < len(all); i += 5 {
		assert.False(t, Compare(recording(t, all[i-1]), recording(t, all[i])).Equal(), "%s and %s", all[i-1], all[i])
	}
}

// A scheduler that has fallen back to core events also counts the first event, so its count of
// repetitions is higher by one.
func TestTheFirstEventOfTheSchedulerIsCountedOrNot(t *testing.T) {
	counted := func(count float64) *Report {
		again := edited(eventsOf("Scheduled"), func(l *trace.Line) { l.Obj = map[string]any{"count": count} })
		return Compare(recording(t, "lifecycle-stub"), again(t, recording(t, "lifecycle-stub")))
	}
	assert.True(t, counted(1).Equal())
	assert.Positive(t, counted(1).Allowed[SchedulerEvents])
	assert.False(t, counted(2).Equal())
}
