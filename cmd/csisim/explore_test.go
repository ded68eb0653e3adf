package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// exploredIn writes the lifecycle scenario with a faulty mock into a new directory.
func exploredIn(t *testing.T, faulty string) (dir, file string) {
	t.Helper()
	text, err := os.ReadFile("../../scenarios/explore/lifecycle.yaml")
	require.NoError(t, err)
	dir = t.TempDir()
	file = filepath.Join(dir, "mine.yaml")
	// Without a name, the driver is sound.
	changed := strings.Replace(string(text), "mock: {}", "mock: {faulty: ["+faulty+"]}", 1)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	return dir, file
}

func TestAFindingOfASearchIsReplayed(t *testing.T) {
	dir, file := exploredIn(t, "attach-not-idempotent")
	reports := filepath.Join(dir, "reports") // the directory does not exist yet
	got := clitest.Run(t, "explore", file, "--runs", "20", "--faults", "repeat", "--out", dir, "--report", reports)
	assert.Equal(t, 1, got.Code, got.Stderr)
	assert.Regexp(t, `(?m)^mine  20 runs, \d+ a second, \d+ states, \d+ of \d+ faults, 1 finding$`, got.Stdout)
	assert.Contains(t, got.Stdout, "\nFINDING 1  ControllerPublishVolume is not idempotent: OK, then Internal")
	assert.Contains(t, got.Stdout, "    ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev: repeated\n")

	replay := filepath.Join(dir, "mine-controllerpublishvolume-is-not-idempotent-ok-then-internal-e78a12.csisim.yaml")
	page := filepath.Join(reports, strings.TrimSuffix(filepath.Base(replay), ".csisim.yaml")+".html")
	assert.Contains(t, got.Stdout, " replay "+replay+"\n  report: "+page+"\n")
	html, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(html), "ControllerPublishVolume is not idempotent: OK, then Internal")
	assert.Contains(t, string(html), `"blame":"the driver is responsible: all other components kept to the CSI spec"`)
	index, err := os.ReadFile(filepath.Join(reports, "index.html"))
	require.NoError(t, err)
	for _, part := range []string{
		`<span class="verdict failed">Failed</span><h1>csisim explore</h1><p class="soft">1 scenario · 20 runs, 1 finding</p>`,
		`<a href="` + filepath.Base(page) + `">ControllerPublishVolume is not idempotent: OK, then Internal`, "replay " + replay, "mine · 20 runs, ", ">finding 1</a>",
	} {
		assert.Contains(t, string(index), part)
	}
	got = clitest.Run(t, "replay", replay)
	assert.Equal(t, 1, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "FAIL mine  ")
	assert.Contains(t, got.Stdout, "(FAULT: the same call again, right after its OK)")
	assert.Contains(t, got.Stdout, " replay "+replay+"\n")

	text, err := os.ReadFile(replay)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "- wait:", "steps that it does not take are left out")
	assert.NotContains(t, string(text), "{name: moved}")
	elsewhere := filepath.Join(t.TempDir(), "moved.csisim.yaml")
	require.NoError(t, os.WriteFile(elsewhere, []byte(strings.Replace(string(text), "faulty: [attach-not-idempotent]", "", 1)), 0o600))
	got = clitest.Run(t, "replay", elsewhere)
	assert.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stderr, "the run does not show the finding any more: ControllerPublishVolume is not idempotent")
	assert.Contains(t, got.Stderr, "the scenario has changed since the finding was made")

	require.NoError(t, os.WriteFile(replay, []byte(strings.ReplaceAll(string(text), "vol-0001", "vol-0009")), 0o600))
	got = clitest.Run(t, "replay", replay)
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "the replay does not fit any more: choice 1 (ControllerPublishVolume of vol-0009 by mock.csi.csisim.dev")
	assert.Contains(t, got.Stderr, `there was "ControllerPublishVolume of vol-0001 by mock.csi.csisim.dev"`)
	assert.Empty(t, got.Stdout, "another run was made, and its end is not the finding's")
}

// Given a scenario that expects exactly one call, when a response is lost and the call is repeated,
// then the search reports no finding.
func TestATooExactExpectationIsNoFinding(t *testing.T) {
	dir, file := exploredIn(t, "")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(text, "\nexpect:\n  calls:\n  - {call: CreateVolume, count: 1}\n"...), 0o600))
	got := clitest.Run(t, "explore", file, "--runs", "3", "--faults", "lost", "--out", dir)
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, " faults, 0 findings, 1 expectation\n")
	assert.Contains(t, got.Stdout, "\nEXPECTATION 1  ")
	assert.Contains(t, got.Stdout, "\n  nothing is wrong: other orders and faults change something that the scenario expects;")
	assert.Contains(t, got.Stdout, "\n  the scenario expects: nothing after call 1 of the list, CreateVolume, 1 times\n")
}

// Given a search with a pod that starts after the scenario's wait has ended, then the report states
// that the pod runs eventually, and gives the reason for the delay. C-ADC-40
func TestAHazardNamesAKnownBehaviourOfKubernetes(t *testing.T) {
	dir, file := exploredIn(t, "")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), "{pod: moved, phase: Running}", "{pod: moved, phase: Running, for: 4m}", 1)), 0o600))
	got := clitest.Run(t, "explore", file, "--runs", "200", "--faults", "crash", "--out", dir)
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, " faults, 0 findings, 1 hazard\n")
	assert.Contains(t, got.Stdout, "\n  the condition is met, but late: after ")
	assert.Contains(t, got.Stdout, "\n  known hazard: an attach/detach controller that starts again takes a volume for mounted until its node reports anew")
}

func TestASearchOfASoundDriverFindsNothing(t *testing.T) {
	got := clitest.Run(t, "explore", "../../scenarios/explore", "--runs", "5", "--out", t.TempDir())
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)
	assert.Equal(t, 3, strings.Count(got.Stdout, "5 runs, "), got.Stdout)
	assert.Equal(t, 3, strings.Count(got.Stdout, ", 0 findings"), got.Stdout)
}

// Given a finding of a scenario that applies a file. When its replay is moved to another directory
// and the scenario is deleted, then the replay still shows the finding.
func TestAReplayNeedsNoOtherFile(t *testing.T) {
	dir, file := exploredIn(t, "attach-not-idempotent")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	from, to := strings.Index(string(text), "- apply: |\n"), strings.Index(string(text), "- wait:")
	var manifest []string
	for line := range strings.Lines(string(text[from+len("- apply: |\n") : to])) {
		manifest = append(manifest, strings.TrimPrefix(line, "    "))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "claim.yaml"), []byte(strings.Join(manifest, "")), 0o600))
	require.NoError(t, os.WriteFile(file, []byte(string(text[:from])+"- apply: {file: claim.yaml}\n"+string(text[to:])), 0o600))

	got := clitest.Run(t, "explore", file, "--runs", "20", "--faults", "repeat", "--out", dir)
	require.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	found, err := filepath.Glob(filepath.Join(dir, "*.csisim.yaml"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	moved := filepath.Join(t.TempDir(), "moved.csisim.yaml")
	require.NoError(t, os.Rename(found[0], moved))
	require.NoError(t, os.RemoveAll(dir))
	got = clitest.Run(t, "replay", moved)
	assert.Equal(t, 1, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "ControllerPublishVolume is not idempotent: OK, then Internal")
}

// The API accepts the manifests of a Job: a scenario that applies them is valid.
func TestAJobMakesTheShardsOfASearch(t *testing.T) {
	const file = "../../scenarios/explore/lifecycle.yaml"
	got := clitest.Run(t, "explore", file, "--job", "4", "--runs", "1000", "--faults", "none", "--image", "registry.example/csisim:v1")
	require.Zero(t, got.Code, got.Stderr)
	for _, want := range []string{
		"completionMode: Indexed\n", "completions: 4\n", "parallelism: 4\n", "image: registry.example/csisim:v1\n",
		"- $(JOB_COMPLETION_INDEX)/4\n", "- /scenarios/lifecycle.yaml\n", "- none\n", "  lifecycle.yaml: |\n", "- ReadWriteMany\n",
	} {
		assert.Contains(t, got.Stdout, want)
	}
	text := "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\ndescription: The manifests of a search.\ndrivers: [{name: d.example.com, mock: {}}]\nsteps:\n- apply: |\n    " +
		strings.ReplaceAll(strings.TrimSpace(got.Stdout), "\n", "\n    ") + "\n"
	applied := filepath.Join(t.TempDir(), "job.yaml")
	require.NoError(t, os.WriteFile(applied, []byte(text), 0o600))
	got = clitest.Run(t, "validate", applied)
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)

	for args, message := range map[string]string{
		"--job 0":             "--job 0: it must be at least 1",
		"--job 2 --shard 0/2": "--job: its shards have --shard, --corpus and --out of their own, and write no reports",
		"--image x":           "--image is for --job",
	} {
		got := clitest.Run(t, append([]string{"explore", file}, strings.Fields(args)...)...)
		assert.Equal(t, 2, got.Code, args)
		assert.Contains(t, got.Stderr, message)
	}
}

func TestAScenarioThatFailsCalmlyIsReportedAndNotSearched(t *testing.T) {
	dir, file := exploredIn(t, "unstage-leaks")
	got := clitest.Run(t, "explore", file, "--runs", "5", "--out", dir, "--report", dir)
	assert.Equal(t, 1, got.Code)
	page, err := os.ReadFile(filepath.Join(dir, "mine.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), `"verdict":"failed"`)
	assert.Contains(t, got.Stdout, "  report: "+filepath.Join(dir, "mine.html")+"\n")
	assert.Contains(t, got.Stdout, "FAIL mine ")
	assert.Contains(t, got.Stdout, "\n  NodeUnstageVolume answered OK, but the mount that NodeStageVolume made is still there on node-a: …/de96…/globalmount (and 3 more)\n")
	assert.Contains(t, got.Stdout, "mine fails in the calm run, without any fault, so it was not searched\n")
	assert.NotContains(t, got.Stdout, "FINDING")
}

func TestWrongUsageOfExploreIsReportedInOneLine(t *testing.T) {
	dir, file := exploredIn(t, "attach-not-idempotent")
	broken := filepath.Join(dir, "broken.csisim.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("apiVersion: csisim.dev/v1alpha1\nkind: Replay\nscenario: mine.yaml\ndigest: d\nfinding: f\nchoices: [{kind: fault, nth: 1}]\n"), 0o600))
	lone := filepath.Join(dir, "lone.csisim.yaml")
	require.NoError(t, os.WriteFile(lone, []byte("apiVersion: csisim.dev/v1alpha1\nkind: Replay\nscenario: nowhere.yaml\ndigest: d\nfinding: f\n"), 0o600))
	served := filepath.Join(dir, "served.yaml")
	require.NoError(t, os.WriteFile(served, []byte(clitest.Header+"cluster: {nodes: 1}\ndrivers: [{name: d.example.com, socket: {node: /run/csi.sock}}]\nsteps: [{settle: {}}]\n"), 0o600))
	for _, test := range []struct{ args, message string }{
		{"explore", "a scenario FILE is missing"},
		{"explore " + file + " --faults lots", `unknown fault "lots"; did you mean "lost"?`},
		{"explore " + file + " --strategy ptc", `unknown strategy "ptc"; did you mean "pct"?`},
		{"explore " + file + " --runs 0", "--runs 0: it must be at least 1"},
		{"explore " + file + " --time 0s", "--time 0s: it must be more than 0"},
		{"explore " + file + " --jobs 0", "--jobs 0: it must be at least 1"},
		{"explore " + file + " --budget -1", "--budget -1: it must not be negative"},
		{"explore " + file + " --faults=", "--faults is empty: give one or more of lost, error, "},
		{"explore " + file + " --faults none,lost", "--faults none,lost: none stands alone"},
		{"explore " + file + " --deviations 2", "--deviations is for --strategy exhaustive"},
		{"explore " + file + " --strategy exhaustive --deviations -1", "--deviations -1: it must not be negative"},
		{"explore " + file + " --strategy exhaustive --shard 0/2", "--strategy exhaustive makes every run in one search: it takes no --shard, --corpus or --job"},
		{"explore " + file + " --shard 2/2", "--shard 2/2: it must be i/n with i from 0 to n-1, such as 0/4"},
		{"explore " + file + " --shard 1", "--shard 1: it must be i/n"},
		{"explore " + file + " --corpus " + file, "--corpus " + file + ": it must be a directory: not a directory"},
		{"explore " + file + " --out " + file + "/there", "--out " + file + "/there: it must be a directory: not a directory"},
		{"explore " + served, "a search takes a fresh driver for every run, and one that serves at a socket already is none; give its program"},
		{"replay", "a FILE is missing"},
		{"replay " + lone, "lone.csisim.yaml: the scenario of the finding: "},
		{"replay " + broken, `broken.csisim.yaml:6:11: choices[0]`},
	} {
		got := clitest.Run(t, strings.Fields(test.args)...)
		assert.Equal(t, 2, got.Code, test.args)
		assert.Contains(t, strings.Split(got.Stderr, "\n")[0], test.message, test.args)
		assert.Empty(t, got.Stdout, test.args)
	}
}
