package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/incident/reenact"
)

// threads are the incidents of package incident.
const threads = "../../internal/incident/testdata/threads/*.txtar"

// logsOf writes the files of an incident to a directory.
func logsOf(t *testing.T, file string) string {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	dir := t.TempDir()
	for _, f := range archive.Files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
	}
	return dir
}

// Given the logs of an incident that name a volume, then its scenario runs and shows the same
// answers of the driver.
func TestScenariosOfIncidentsRun(t *testing.T) {
	files, err := filepath.Glob(threads)
	require.NoError(t, err)
	played := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			scenario := filepath.Join(t.TempDir(), "incident.yaml")
			got := clitest.Run(t, "import", logsOf(t, file), "--until", "2026-11-28", "--scenario", scenario)
			if got.Code == exitInput {
				assert.Contains(t, got.Stderr, "the trace names no volume of a CSI driver")
				return
			}
			require.Zero(t, got.Code, got.Stderr)
			played++
			run := clitest.Run(t, "run", scenario)
			text, _ := os.ReadFile(scenario)
			assert.Zero(t, run.Code, "%s\n%s\n%s", text, run.Stdout, run.Stderr)
		})
	}
	assert.GreaterOrEqual(t, played, 10)
}

// A mistake on the command line, or input without any line, is reported in one sentence.
func TestBadInputOfImport(t *testing.T) {
	dir := t.TempDir()
	empty, log := filepath.Join(dir, "empty"), filepath.Join(dir, "kubelet.log")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	require.NoError(t, os.WriteFile(log, []byte("I1128 12:00:00.000000 1 a.go:1] x\n"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "a PATH is missing"},
		{[]string{log}, "csisim import needs --output"},
		{[]string{"nowhere", "-o", filepath.Join(dir, "x.jsonl")}, "nowhere: no such file or directory"},
		{[]string{log, "-o", "-", "--scenario", "x.yaml"}, "--scenario needs the trace in a file"},
		{[]string{log, "-o", "-", "--time-zone", "Mars"}, "--time-zone Mars: not a time zone such as Europe/Berlin or UTC"},
		{[]string{log, "-o", "-", "--until", "soon"}, "--until soon: not a time such as 2026-11-28"},
		{[]string{log, "-o", "x.jsonl", "--driver"}, "--driver needs --scenario"},
		{[]string{log, "--scenario", "x.yaml", "--driver"}, "--driver needs the command of the driver after --"},
		{[]string{"--scenario", "x.yaml", "--driver", "--", "hostdir"}, "a PATH is missing"},
		{[]string{log, "-o", "x.jsonl", "--", "hostdir"}, "a driver after -- needs --scenario FILE --driver"},
		{[]string{empty, "-o", "-"}, "there is no line with a time in 0 files"},
	} {
		got := clitest.Run(t, append([]string{"import"}, c.args...)...)
		assert.Equal(t, exitInput, got.Code, c.args)
		assert.Contains(t, got.Stderr, c.want)
	}
}

// explain exits with 0 if nothing in the trace is stuck, with 1 if something is stuck, and with 2
// if the file is not a trace.
func TestExitCodesOfExplain(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "trace.jsonl")
	got := clitest.Run(t, "import", "../../examples/incident", "--until", "2026-11-28", "-o", trace)
	require.Zero(t, got.Code, got.Stderr)
	got = clitest.Run(t, "explain", trace)
	assert.Equal(t, exitFailed, got.Code)
	assert.Contains(t, got.Stdout, "held by    driver mock.csi.csisim.dev")

	got = clitest.Run(t, "explain", recording)
	assert.Equal(t, exitPassed, got.Code, got.Stdout)
	assert.Contains(t, got.Stdout, "Nothing is stuck in these logs")

	got = clitest.Run(t, "explain", "import_test.go")
	assert.Equal(t, exitInput, got.Code)
	assert.Contains(t, got.Stderr, "import_test.go: line 1 is not an event of a trace")
}

// Given an imported trace, then the first screen of csisim view lists the findings.
func TestViewShowsTheFindings(t *testing.T) {
	dir := t.TempDir()
	trace, page := filepath.Join(dir, "trace.jsonl"), filepath.Join(dir, "page.html")
	require.Zero(t, clitest.Run(t, "import", "../../examples/incident", "--until", "2026-11-28", "-o", trace).Code)
	require.Zero(t, clitest.Run(t, "view", trace, "-o", page).Code)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Volume pvc-1 cannot be attached to node-b: it is attached to node-a")
}

// playedAgain imports the logs in a folder of testdata, runs the scenario from them, and returns
// both traces.
func playedAgain(t *testing.T, logs, until string) (recorded, played string) {
	t.Helper()
	dir := t.TempDir()
	recorded, played = filepath.Join(dir, "recorded.jsonl"), filepath.Join(dir, "played.jsonl")
	scenario := filepath.Join(dir, "incident.yaml")
	got := clitest.Run(t, "import", "../../internal/incident/testdata/"+logs, "--until", until, "-o", recorded, "--scenario", scenario)
	require.Zero(t, got.Code, got.Stderr)
	run := clitest.Run(t, "run", scenario, "--trace", played)
	text, err := os.ReadFile(scenario)
	require.NoError(t, err)
	require.Zero(t, run.Code, string(text)+run.Stdout+run.Stderr)
	return recorded, played
}

// Given the logs of real sidecars and a real driver, then the scenario makes the same calls about
// volumes, by the same callers, in the same order.
func TestTheScenarioOfRealLogsMakesTheirCalls(t *testing.T) {
	recorded, played := playedAgain(t, "hostpath", "2026-11-28")
	want := volumeCalls(t, recorded)
	require.Len(t, want, 9)
	assert.Equal(t, want, volumeCalls(t, played))
}

// Given the same logs and a driver, then the driver replaces the mock: it receives the calls in the
// logs and gives its own answers.
func TestADriverPlaysAnIncident(t *testing.T) {
	hostdir := filepath.Join(clitest.Build(t), "hostdir")
	dir := t.TempDir()
	recorded, scenario, played := filepath.Join(dir, "recorded.jsonl"), filepath.Join(dir, "incident.yaml"), filepath.Join(dir, "played.jsonl")
	got := clitest.Run(t, "import", "../../internal/incident/testdata/hostpath", "--until", "2026-11-28", "-o", recorded, "--scenario", scenario, "--driver", "--",
		hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}")
	require.Zero(t, got.Code, got.Stderr)
	run := clitest.Run(t, "run", scenario, "--trace", played)
	require.Zero(t, run.Code, run.Stdout+run.Stderr)
	assert.Equal(t, volumeCalls(t, recorded), volumeCalls(t, played))
}

// volumeCalls lists the calls about one volume in a trace, with their callers.
func volumeCalls(t *testing.T, file string) (calls []string) {
	t.Helper()
	lines, err := openTrace(file)
	require.NoError(t, err)
	for _, l := range lines {
		if rpc := filepath.Base(l.M); l.Req["volume_id"] != nil && rpc != "NodeGetVolumeStats" || rpc == "CreateVolume" {
			calls = append(calls, strings.TrimSpace(l.From+" "+rpc+" "+l.Code))
		}
	}
	return calls
}

// Given the recording of a real cluster with a snapshot and a clone of a volume, then its scenario
// makes the same calls about volumes and snapshots, in the same order.
func TestTheScenarioOfARecordingMakesItsSnapshots(t *testing.T) {
	const recorded = "../../scenarios/golden/snapshot-restore-clone.jsonl"
	dir := t.TempDir()
	scenario, played := filepath.Join(dir, "incident.yaml"), filepath.Join(dir, "played.jsonl")
	file, err := os.Open(recorded)
	require.NoError(t, err)
	defer file.Close()
	story, err := reenact.Read(file)
	require.NoError(t, err)
	var text strings.Builder
	require.NoError(t, story.Write(&text, recorded))
	require.NoError(t, os.WriteFile(scenario, []byte(text.String()), 0o600))
	run := clitest.Run(t, "run", scenario, "--trace", played)
	require.Zero(t, run.Code, run.Stdout+run.Stderr)
	want := copies(t, recorded)
	require.Len(t, want, 8)
	assert.Equal(t, want, copies(t, played))
}

// copies lists the calls that create and delete volumes and snapshots, with the source of each
// volume.
func copies(t *testing.T, file string) (calls []string) {
	t.Helper()
	lines, err := openTrace(file)
	require.NoError(t, err)
	for _, l := range lines {
		switch rpc := filepath.Base(l.M); rpc {
		case "CreateVolume", "DeleteVolume", "CreateSnapshot", "DeleteSnapshot":
			source, _ := l.Req["volume_content_source"].(map[string]any)
			calls = append(calls, strings.Join(append([]string{l.From, rpc, l.Code}, slices.Sorted(maps.Keys(source))...), " "))
		}
	}
	return calls
}

// Given the log of a real csi-snapshotter that created and deleted groups of snapshots, then the
// scenario makes the same calls about each group, with as many volumes and the same errors. How
// often csi-snapshotter repeats a call until a group is ready depends on the real time.
func TestTheScenarioOfRealLogsMakesTheirGroups(t *testing.T) {
	recorded, played := playedAgain(t, "snapshotter", "2026-11-29")
	want := []string{
		"csi-snapshotter CreateVolumeGroupSnapshot ResourceExhausted of 2: group 1",
		"csi-snapshotter CreateVolumeGroupSnapshot  of 2: group 1",
		"csi-snapshotter CreateVolumeGroupSnapshot  of 2: group 2",
		"csi-snapshotter DeleteVolumeGroupSnapshot Internal of 2: group 1",
		"csi-snapshotter DeleteVolumeGroupSnapshot  of 2: group 2",
		"csi-snapshotter DeleteVolumeGroupSnapshot  of 2: group 1",
	}
	assert.Equal(t, want, groupCalls(t, recorded))
	assert.Equal(t, want, groupCalls(t, played))
}

// groupCalls lists the calls that create and delete groups of snapshots, with the number of their
// volumes or members. Repeated calls occur once.
func groupCalls(t *testing.T, file string) (calls []string) {
	t.Helper()
	lines, err := openTrace(file)
	require.NoError(t, err)
	names := map[string][]string{}
	for _, l := range lines {
		rpc := filepath.Base(l.M)
		if rpc != "CreateVolumeGroupSnapshot" && rpc != "DeleteVolumeGroupSnapshot" {
			continue
		}
		volumes, _ := l.Req["source_volume_ids"].([]any)
		members, _ := l.Req["snapshot_ids"].([]any)
		name := fmt.Sprint(l.Req["name"], l.Req["group_snapshot_id"])
		if !slices.Contains(names[rpc], name) {
			names[rpc] = append(names[rpc], name)
		}
		calls = append(calls, fmt.Sprintf("%s %s %s of %d: group %d", l.From, rpc, l.Code, len(volumes)+len(members), slices.Index(names[rpc], name)+1))
	}
	return slices.Compact(calls)
}
