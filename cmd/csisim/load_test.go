package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	loadreport "github.com/csisim/csisim/cmd/internal/load"
	"github.com/csisim/csisim/internal/load"
)

var loadedDriver = []string{"hostdir", "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--mode={{.Mode}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"}

// loadOn runs csisim load on hostdir with the given options.
func loadOn(t *testing.T, options string, flags ...string) (clitest.Outcome, *loadreport.Report) {
	t.Helper()
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	args := append(append([]string{"load", "--json", "load.json"}, flags...), "--")
	args = append(append(args, loadedDriver...), strings.Fields(options)...)
	got := outcomeOf(t, p.Command(args...))
	assert.Empty(t, p.Leftovers())
	r := loadreport.Report{Result: &load.Result{}}
	if text, err := os.ReadFile(filepath.Join(p.Dir, "load.json")); err == nil && len(text) > 0 {
		require.NoError(t, json.Unmarshal(text, &r), got.Stdout)
	}
	return got, &r
}

// The report finds each cost that hostdir can have and names it in its sentence, without any other
// finding. Costs in time need an idle machine.
func TestEachCostOfALoadIsFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cost, flags, finding, says string
		timed                      bool
	}{
		{"publish-reads-mounts", "--volumes 10,70 --runs 2", "grows/NodePublishVolume", "; one call opens /proc/self/mountinfo ", true},
		{"global-lock", "--volumes 1,20 --runs 3", "serialized", "the driver serves one call at a time, of all kinds", true},
		{"keeps-memory", "--volumes 40", "leak/memory", "for each deleted volume", false},
		{"keeps-descriptors", "--volumes 20", "leak/descriptors", "the driver keeps 1 file descriptor for each deleted volume", false},
		{"slow-statistics", "--volumes 2 --runs 1", "slow/NodeGetVolumeStats", "the kubelet calls it once a minute for each of the 2 volumes on a node", false},
		{"slow-start", "--volumes 10,60 --runs 1 --shape restart", "starts", "the driver starts slower with more volumes", true},
		{"late-creations", "--volumes 10 --runs 1 --sidecar {csi-provisioner:_{timeout:_1s}}", "fails/CreateVolume/DeadlineExceeded", "CreateVolume calls timed out and were repeated", false},
	} {
		t.Run(c.cost, func(t *testing.T) {
			if c.timed && !clitest.Nightly() {
				t.Skip("it takes an idle machine: make nightly-live")
			}
			flags := strings.Fields(c.flags)
			for i := range flags {
				flags[i] = strings.ReplaceAll(flags[i], "_", " ")
			}
			got, r := loadOn(t, "--cost="+c.cost, flags...)
			assert.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
			require.Len(t, r.Findings, 1, got.Stdout)
			assert.Equal(t, c.finding, r.Findings[0].Name)
			assert.Contains(t, r.Findings[0].Text, c.says)
			assert.Contains(t, got.Stdout, c.says)
		})
	}
}

// Sound volumes pass through their lives in all shapes without a finding.
func TestASoundDriverUnderLoad(t *testing.T) {
	t.Parallel()
	for shape, phase := range map[string]string{
		"burst": "up", "ramp": "up", "churn": "churn", "move": "move", "restart": "driver restarts", "snapshot": "snapshots", "expand": "expand", "block": "up",
	} {
		t.Run(shape, func(t *testing.T) {
			got, r := loadOn(t, "", "--volumes", "1,8", "--runs", "2", "--shape", shape)
			assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
			require.Len(t, r.Levels, 2)
			assert.Contains(t, r.Levels[1].Phases(), phase)
			for _, method := range []string{"CreateVolume", "NodePublishVolume", "NodeUnpublishVolume", "DeleteVolume"} {
				assert.GreaterOrEqual(t, r.Levels[1].Of(method).Count, 16, method)
			}
			assert.Equal(t, int64(0), r.Levels[1].Use("after").Mounts-r.Levels[1].Use("before").Mounts)
		})
	}
}

// Given a driver that offers only inline volumes, when it is loaded, then pods define their volumes
// inline.
func TestAnInlineDriverUnderLoad(t *testing.T) {
	t.Parallel()
	got, r := loadOn(t, "--inline=only", "--lifecycle", "Ephemeral", "--volumes", "1,8", "--runs", "1")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Equal(t, 8, r.Levels[1].Of("NodePublishVolume").Count)
	assert.Equal(t, 8, r.Levels[1].Of("NodeUnpublishVolume").Count)
	assert.Zero(t, r.Levels[1].Of("CreateVolume").Count)
	assert.Regexp(t, `(?m)^ +published +`, got.Stdout)
}

// Given a driver that works outside the calls, like those of clouds, when it is loaded, then calls
// that it refuses during this work are notes.
func TestAnAsynchronousDriverUnderLoad(t *testing.T) {
	t.Parallel()
	for _, jobs := range []string{"--attach-delay=300ms --detach-delay=300ms --round-up=1Gi", "--detach-delay=300ms --detach-answers-first"} {
		got, r := loadOn(t, jobs, "--volumes", "2", "--runs", "1")
		assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
		assert.Empty(t, r.Findings)
		assert.Contains(t, got.Stdout, "calls failed with ")
		assert.Contains(t, got.Stdout, "and were repeated")
	}
}

func TestALoadIsReportedInAllForms(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	got, _ := loadOn(t, "", "--volumes", "1,4", "--runs", "1", "--report", in("l.html"), "--junit", in("l.xml"), "--summary", in("l.md"),
		"--fail-if", "count(NodeStageVolume) > 3", "--fail-if", "p99(NodeStageVolume) > 1h")
	assert.Equal(t, 1, got.Code)
	assert.Contains(t, got.Stdout, "count(NodeStageVolume) is 4")
	page, err := os.ReadFile(in("l.html"))
	require.NoError(t, err)
	assert.Contains(t, string(page), "<svg")
	assert.Contains(t, string(page), ">run 1</text>")
	assert.NotContains(t, string(page), ">run 2</text>")
	assert.NotContains(t, string(page), "<script")
	assert.NotContains(t, string(page), "http://")
	junit, err := os.ReadFile(in("l.xml"))
	require.NoError(t, err)
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	require.NoError(t, xml.Unmarshal(junit, &suites))
	assert.Equal(t, 3, suites.Tests)
	assert.Equal(t, 1, suites.Failures)
	summary, err := os.ReadFile(in("l.md"))
	require.NoError(t, err)
	assert.Contains(t, string(summary), "| NodePublishVolume | 4 |")
}

func TestTwoBuildsUnderLoadTakeTurns(t *testing.T) {
	t.Parallel()
	kept := filepath.Join(t.TempDir(), "kept.json")
	got, r := loadOn(t, "--cost=slow-statistics", "--volumes", "4", "--json", kept, "--fail-if", "slower > 100%", "--against", strings.Join(loadedDriver, " "))
	assert.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	assert.Empty(t, r.Levels, "the result is in the other file")
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, r))
	i := slices.IndexFunc(r.Compared.Rows, func(d loadreport.Difference) bool { return d.Name == "NodeGetVolumeStats" })
	assert.True(t, r.Compared.Rows[i].Beyond, got.Stdout)
	assert.Contains(t, got.Stdout, "slower > 100%")

	// The result is the baseline of a later load.
	got, _ = loadOn(t, "", "--volumes", "4", "--baseline", kept)
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "Against hostdir.csisim.dev")
	got, _ = loadOn(t, "", "--volumes", "4", "--shape", "ramp", "--baseline", kept)
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "its shape is burst, that of this load ramp")
}

func TestMistakesInALoad(t *testing.T) {
	for flags, says := range map[string]string{
		"--shape bust":                           `unknown shape "bust"; there are burst, ramp`,
		"--volumes 0":                            "0 volumes: from 1 to 100000 are possible",
		"--volumes 1,x":                          "--volumes",
		"--clock atomic":                         `unknown clock "atomic"`,
		"--duration 1m":                          "only ramp and churn have one",
		"--rate 2":                               "only churn has one",
		"--latency CreateVolume":                 "want CALL=TIME, such as CreateVolume=2s±20%",
		"--latency CreateVolum=2s":               `unknown call "CreateVolum"; did you mean "CreateVolume"?`,
		"--latency CreateVolume=2":               `"2" is no duration`,
		"--latency CreateVolume=2s --clock real": "only the virtual clock can add them",
		"--fail-if p98(CreateVolume)>1s":         "undeclared reference to 'p98'",
		"--fail-if slower>10%":                   "it needs --baseline or --against",
		"--baseline no-such-file":                "no such file",
		"--nodes 1 --shape move":                 "1 node: the shape move takes 2 or more",
		"--sidecar csi-provisioner:{workers:x}":  "--sidecar",
		"--pods-per-node 5 --nodes 2":            "without --nodes",
	} {
		got, _ := loadOn(t, "", strings.Fields(flags)...)
		assert.Equal(t, 2, got.Code, flags)
		assert.Contains(t, got.Stderr, says, flags)
	}
}

// Given a scenario that applies copies of a pod with two claims, when it is loaded, then each pod
// is a life. The number of copies is the largest level.
func TestAScenarioDescribesALoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		return file
	}
	write("web.yaml", `apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: "data-{{i}}"}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: "log-{{i}}"}
spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: "web-{{i}}"}
spec:
  containers: [{name: c, image: i, volumeMounts: [{name: d, mountPath: /d}, {name: l, mountPath: /l}]}]
  volumes: [{name: d, persistentVolumeClaim: {claimName: "data-{{i}}"}}, {name: l, persistentVolumeClaim: {claimName: "log-{{i}}"}}]
`)
	const scenario = clitest.Header + clitest.Mocked + "objects: [{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: a.example.com}]\nsteps:\n"
	file := write("load.yaml", scenario+"- apply: {file: web.yaml, copies: 20}\n- settle: {}\n")
	kept := filepath.Join(dir, "load.json")
	got := clitest.Run(t, "load", file, "--runs", "1", "--json", kept, "--latency", "CreateVolume=500ms", "--fail-if", "p50(CreateVolume) != 500ms")
	require.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "burst of 1, 2, 20 volumes on 2 nodes")
	assert.Contains(t, got.Stdout, "no part of the load, which has its own course")
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	r := loadreport.Report{Result: &load.Result{}}
	require.NoError(t, json.Unmarshal(text, &r))
	assert.Equal(t, 40, r.Levels[2].Of("CreateVolume").Count)
	assert.Len(t, r.Levels[2].Runs[0].Stages[0].Took, 20)

	assert.Equal(t, 0, clitest.Run(t, "load", file, "--runs", "1", "--volumes", "4", "--shape", "move").Code)
	without := clitest.Run(t, "load", write("none.yaml", scenario+"- settle: {}\n"))
	assert.Equal(t, 2, without.Code)
	assert.Contains(t, without.Stderr, "no step applies copies of a file with the objects of one pod")
}
