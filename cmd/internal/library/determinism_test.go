package library_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/sim"
)

var (
	pairs     = flag.Int("pairs", 16, "how many runs of scenarios with programs are made twice and compared")
	loaded    = flag.Bool("loaded", false, "keep all processors busy meanwhile")
	fitting   = flag.Duration("for", 0, "make as many of the pairs as fit in so much wall time; those that are left are no failure then")
	scenarios = flag.String("scenarios", "programs/hostdir-*.yaml", "the scenarios that are run, below the library or by their whole path")
)

// A pair of runs takes some seconds on a busy machine. A run that takes longer than endOfPair
// hangs.
const endOfPair = 2 * time.Minute

// TestRunsWithProgramsAreRepeatable makes each run twice. The strategy, not the clock, chooses the
// order in which the actions of a driver's program enter a run. The reference driver is
// deterministic. The test also fails if the driver caused the difference, unless a fault has killed
// the driver during a call. The test prints a line for each pair when it ends, and one for all of
// them.
func TestRunsWithProgramsAreRepeatable(t *testing.T) {
	withHostdir(t)
	if *loaded {
		burn(t)
	}
	files, err := filepath.Glob(*scenarios)
	require.NoError(t, err)
	require.NotEmpty(t, files, *scenarios)
	counts := map[outcome]int{}
	began, longest, made := time.Now(), time.Duration(0), 0
	for ; made < *pairs && hasTime(t, began, longest); made++ {
		file, seed := files[made%len(files)], uint64(made/len(files))
		t.Run(fmt.Sprintf("%s seed %d", strings.TrimSuffix(filepath.Base(file), ".yaml"), seed), func(t *testing.T) {
			start := time.Now()
			how := again(t, file, seed)
			longest = max(longest, time.Since(start))
			counts[how]++
			fmt.Printf("pair %d of %d: %s, %.1fs: %s\n", made+1, *pairs, t.Name(), time.Since(start).Seconds(), how)
		})
	}
	var parts []string
	for _, how := range []outcome{same, clockDecided, driverDiffers, differs, noEnd} {
		parts = append(parts, fmt.Sprintf("%d %s", counts[how], how))
	}
	fmt.Printf("%d of %d pairs in %v: %s\n", made, *pairs, time.Since(began).Round(time.Second), strings.Join(parts, ", "))
	if made < *pairs && *fitting == 0 {
		t.Errorf("%d pairs were not made before the end of go test's time: give it more with -timeout, or say with -for how long it may take", *pairs-made)
	}
}

// hasTime reports whether another pair of runs fits into -for and into the timeout of go test,
// which would end the test without results.
func hasTime(t *testing.T, began time.Time, longest time.Duration) bool {
	needs := longest + 5*time.Second
	if *fitting > 0 && time.Since(began)+needs > *fitting {
		return false
	}
	end, ok := t.Deadline()
	return !ok || time.Until(end) > 2*needs
}

// outcome compares the second run of a pair with the first.
type outcome string

const (
	same          outcome = "the same"
	clockDecided  outcome = "up to the real clock"
	driverDiffers outcome = "the driver differs"
	differs       outcome = "csisim differs"
	noEnd         outcome = "without an end"
)

// again runs a scenario twice.
func again(t *testing.T, file string, seed uint64) outcome {
	ctx, end := context.WithTimeout(t.Context(), endOfPair)
	defer end()
	s, err := scenario.Load(file)
	require.NoError(t, err)
	s.Expect.Fails = "" // a run that fails must be repeatable, too
	result, err := scenario.Run(ctx, s, scenario.RunOptions{Seed: seed, CheckDeterminism: true})
	if err != nil || ctx.Err() != nil {
		t.Errorf("the runs have not ended: %v", errors.Join(err, ctx.Err()))
		return noEnd
	}
	for _, f := range result.Failures {
		switch {
		case !strings.HasPrefix(f.Verdict.Text, "the second run"):
		case strings.HasSuffix(f.Verdict.Text, "is up to the real clock"):
			t.Log(f.Verdict.Text + "\n" + f.Got)
			return clockDecided
		default:
			t.Error(f.Verdict.Text + "\n" + f.Got)
			if strings.Contains(f.Verdict.Text, "the driver behaved differently in two runs") {
				return driverDiffers
			}
			return differs
		}
	}
	return same
}

// If nodes are separated by directories, programs find everything below the directory of the run.
// Nevertheless a path in a driver's answer, here the id of its node, is the same in every run, and
// the driver receives it back unchanged.
func TestPathsAreTheSameInEveryRunWithoutNamespaces(t *testing.T) {
	withHostdir(t)
	s, err := scenario.Load("programs/hostdir-block.yaml")
	require.NoError(t, err)
	s.Drivers[0].Program.Command = append(s.Drivers[0].Program.Command, "--node-id={{.NodeStateDir}}")
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true, Isolation: sim.None})
	require.NoError(t, err)
	require.Empty(t, result.Failures)
	var ids []string
	for _, e := range result.Trace {
		if r, ok := e.Request.(*csi.ControllerPublishVolumeRequest); ok {
			ids = append(ids, r.GetNodeId())
		}
	}
	require.Equal(t, []string{"/run/csisim/state/hostdir.csi.csisim.dev-node-a"}, ids)
}

// burn keeps all processors busy with other programs until the end of the test.
func burn(t *testing.T) {
	for range 2 * runtime.NumCPU() {
		burner := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
		require.NoError(t, burner.Start())
		t.Cleanup(func() { _ = burner.Wait() }) // it was killed
	}
}

// The report names a driver with random answers, and the answer. csisim itself behaved the same in
// both runs.
func TestADriverThatChangesItsAnswerIsNamed(t *testing.T) {
	withHostdir(t)
	s, err := scenario.Load("programs/hostdir-block.yaml")
	require.NoError(t, err)
	program := s.Drivers[0].Program
	program.Command = []string{"sh", "-c", "exec " + strings.Join(program.Command, " ") + " --node-id=$(cat /proc/sys/kernel/random/uuid)"}
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true})
	require.NoError(t, err)
	last := result.Failures[len(result.Failures)-1]
	require.Contains(t, last.Verdict.Text, "the second run was not like the first: the driver behaved differently in two runs")
	require.Contains(t, last.Got, "answer of driver hostdir.csi.csisim.dev on node-a to Node/NodeGetInfo: {")
}

// The driver's threads decide which of two overlapping calls is executed first; later differences
// between runs are reported as a consequence. Here the plugin returns another node id after its
// restart in each run, so the runs differ.
func TestTheOrderAfterOverlappingCallsDependsOnTheRealClock(t *testing.T) {
	withHostdir(t)
	text, err := os.ReadFile("programs/hostdir-block.yaml")
	require.NoError(t, err)
	before, _, found := strings.Cut(string(text), "steps:\n")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "overlap.yaml")
	require.NoError(t, os.WriteFile(file, []byte(before+`steps:
- fault: {call: CreateVolume, overlap: true, times: 1}
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 16Mi}}
      storageClassName: hostdir
- wait: {call: CreateVolume, count: 2}
- restart-driver: {node: node-a}
- advance: 10s
`), 0o600))
	s, err := scenario.Load(file)
	require.NoError(t, err)
	program := s.Drivers[0].Program
	started := "{{.NodeStateDir}}/started"
	program.Command = []string{"sh", "-c", "ID=node; test -e " + started + " && ID=$(cat /proc/sys/kernel/random/uuid); touch " + started + "; exec " + strings.Join(program.Command, " ") + " --node-id=$ID"}
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true})
	require.NoError(t, err)
	last := result.Failures[len(result.Failures)-1]
	require.Contains(t, last.Verdict.Text, "CreateVolume overlap: which one the driver takes first is up to the real clock")
}
