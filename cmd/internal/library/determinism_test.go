package library_test

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/sim"
)

var (
	pairs  = flag.Int("pairs", 16, "how many runs of scenarios with programs are made twice and compared")
	loaded = flag.Bool("loaded", false, "keep all processors busy meanwhile")
)

// TestRunsWithProgramsComeAgain makes each run twice: what a driver's program does enters a run in an order that the
// strategy chooses, and not the clock. The reference driver is deterministic; runs that differ since it differs fail, too,
// unless a fault has killed it at work.
func TestRunsWithProgramsComeAgain(t *testing.T) {
	withHostdir(t)
	if *loaded {
		burn(t)
	}
	files, err := filepath.Glob("programs/*.yaml")
	require.NoError(t, err)
	for i := range *pairs {
		file, seed := files[i%len(files)], uint64(i/len(files))
		t.Run(fmt.Sprintf("%s seed %d", strings.TrimSuffix(filepath.Base(file), ".yaml"), seed), func(t *testing.T) {
			s, err := scenario.Load(file)
			require.NoError(t, err)
			s.Expect.Fails = "" // a run that fails has to come again like any other
			result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Seed: seed, CheckDeterminism: true})
			require.NoError(t, err)
			for _, f := range result.Failures {
				switch {
				case !strings.HasPrefix(f.Verdict, "the second run"):
				case strings.HasSuffix(f.Verdict, "is up to the real clock"):
					t.Log(f.Verdict + "\n" + f.Got)
				default:
					t.Error(f.Verdict + "\n" + f.Got)
				}
			}
		})
	}
}

// Where nodes are kept apart by directories, programs find everything below the run's: a path that a driver answers, here
// as the id of its node, is the same in every run all the same, and the driver gets back what it said.
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

// A driver whose answers depend on its process number is named with the answer; csisim made no difference.
func TestADriverThatAnswersOtherwiseTheSecondTimeIsNamed(t *testing.T) {
	withHostdir(t)
	s, err := scenario.Load("programs/hostdir-block.yaml")
	require.NoError(t, err)
	program := s.Drivers[0].Program
	program.Command = []string{"sh", "-c", "exec " + strings.Join(program.Command, " ") + " --node-id=$$"}
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true})
	require.NoError(t, err)
	last := result.Failures[len(result.Failures)-1]
	require.Contains(t, last.Verdict, "the second run was not like the first: the driver did not do the same twice, csisim did")
	require.Contains(t, last.Got, "answer of driver hostdir.csi.csisim.dev on node-a to Node/NodeGetInfo: {")
}
