package check_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/driver/unfinished"
)

// allTrials enables the slow trials of make nightly, which take an hour. With this flag, drivers
// that work outside the calls, drivers that also have inline volumes, and releases that replace
// each other go through all trials. The facts of each driver with a defect are collected before its
// trial.
var allTrials = flag.Bool("all-trials", false, "run the trials that are left out otherwise: an hour")

// outsideCalls are sound drivers that work outside the calls, with the trials that exercise most of
// this work.
var outsideCalls = []struct {
	name, flags string
	trials      []string
}{
	{"attaches in a job", "--attach-delay=700ms", []string{"life/filesystem", "crash-driver/ControllerPublishVolume"}},
	{"detaches in a job", "--detach-delay=700ms", []string{"repeated/filesystem", "lost/ControllerUnpublishVolume"}},
	{"answers before a volume is detached", "--detach-delay=700ms --detach-answers-first", []string{"repeated/filesystem", "move/there-and-back"}},
	{"answers before a volume is detached, without lists", "--detach-delay=700ms --detach-answers-first --without=list", []string{"repeated/filesystem"}},
	{"cuts snapshots in a job", "--snapshot-delay=300ms", []string{"snapshot/restored", "group/restored"}},
	{"rounds sizes up", "--round-up=1Gi", []string{"grow/twice", "snapshot/larger", "grow/block"}},
	{"starts slowly", "--start-delay=500ms", []string{"restart/driver-on-node"}},
	{"all of that", "--attach-delay=300ms --detach-delay=300ms --snapshot-delay=300ms --round-up=1Gi --start-delay=100ms", []string{"snapshot/restored"}},
}

func TestASoundDriverMayWorkOutsideTheCalls(t *testing.T) {
	program := buildHostdir(t)
	for _, driver := range outsideCalls {
		t.Run(driver.name, func(t *testing.T) {
			subject := hostdir(program, "")
			subject.Driver.Program.Command = append(subject.Driver.Program.Command, strings.Fields(driver.flags)...)
			options := check.RunOptions{WorkDir: workDir(t), WaitForDriver: unfinished.Default}
			if *allTrials {
				options.Parallel, driver.trials = 4, nil
			} else {
				t.Parallel()
			}
			card := checked(t, subject, options, driver.trials...)
			assert.Empty(t, verdicts(card))
			assert.Empty(t, card.NotTried())
		})
	}
}

// Given drivers that never finish the work that they announce, when the wait for it has ended, then
// the verdict is the same as without any wait.
func TestADriverThatNeverFinishesGetsItsVerdict(t *testing.T) {
	program := buildHostdir(t)
	for _, test := range []struct{ flag, trial, verdict string }{
		{"--attach-delay=1h", "life/filesystem", "ControllerPublishVolume is answered with ABORTED though no call is under way: volume vol-"},
		{"--snapshot-delay=1h", "snapshot/restored", "timed out waiting for the condition: volumesnapshot daily such that object.status.readyToUse"},
		{"--detach-delay=1h --detach-answers-first", "repeated/filesystem", "ControllerUnpublishVolume has no effect: volume vol-"},
	} {
		t.Run(test.flag, func(t *testing.T) {
			t.Parallel()
			subject := hostdir(program, "")
			subject.Driver.Program.Command = append(subject.Driver.Program.Command, strings.Fields(test.flag)...)
			card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), WaitForDriver: time.Second}, test.trial)
			assert.Contains(t, verdicts(card), test.verdict)
		})
	}
}

func TestADriverThatStartsTooSlowlyIsTriedOnce(t *testing.T) {
	program := buildHostdir(t)
	subject := hostdir(program, "")
	_, trials := planned(t, subject, check.RunOptions{WorkDir: workDir(t)})
	trials = trials[:2]
	for _, trial := range trials {
		slow := strings.NewReplacer("--mode=", "--start-delay=1m\n    - --mode=", "  program:\n", "  program:\n    startTimeout: 300ms\n").Replace(trial.Text)
		require.NotEqual(t, trial.Text, slow)
		trial.Text = slow
	}
	outcomes, err := check.Run(t.Context(), trials, check.RunOptions{WorkDir: workDir(t)})
	require.NoError(t, err)
	require.ErrorContains(t, outcomes[0].Err, "(waited 300ms): startTimeout of its program, or --start-timeout of csisim check, gives it longer")
	assert.Equal(t, check.Slow, outcomes[1].Cause)
}

// Given a driver with one slow call among those that determine its kinds of volumes, when the check
// has ended, then the last line of the card counts this call.
func TestTheLastLineCountsSlowCallsOfTheQueries(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--cost=late-creations")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), Patience: 700 * time.Millisecond}, "life/filesystem")
	require.Len(t, card.Outcomes, 1)
	inTrial := len(card.Outcomes[0].Result.Overdue)
	assert.Positive(t, card.Facts.Overdue)
	assert.Equal(t, card.Facts.Overdue+inTrial, card.Totals().Overdue)
	var text strings.Builder
	require.NoError(t, card.Text(&text, report.Terminal{}))
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	assert.Contains(t, lines[len(lines)-1], "the patience ran out for ")
}
