package scenarios_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/scenario"
)

var (
	pairs  = flag.Int("pairs", 16, "how many runs of scenarios with programs are made twice and compared")
	loaded = flag.Bool("loaded", false, "keep all processors busy meanwhile")
)

// TestRunsWithProgramsComeAgain makes each run twice: what a driver's program does enters a run in an order that the
// strategy chooses, and not the clock. The reference driver is deterministic; runs that differ since it differs fail, too.
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
				if strings.HasPrefix(f.Verdict, "the second run") {
					t.Error(f.Verdict + "\n" + f.Got)
				}
			}
		})
	}
}

// burn keeps all processors busy until the end of the test.
func burn(t *testing.T) {
	end, cancel := context.WithCancelCause(context.Background())
	t.Cleanup(func() { cancel(errors.New("the test is over")) })
	for range 2 * runtime.NumCPU() {
		go func() {
			for k := kernel.NewRandom(1); end.Err() == nil; {
				k.Choose(kernel.Choice{N: 2})
			}
		}()
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
