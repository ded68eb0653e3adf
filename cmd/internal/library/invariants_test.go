package library_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/seeded"
)

// proof is a scenario that breaks an invariant by a mistake, and passes without the mistake.
type proof struct {
	scenario string         // default: the life of a volume that moves
	faulty   string         // the mistake of the mock
	broken   string         // the mistake of hostdir
	own      seeded.Mistake // the mistake of Kubernetes' own programs
	steps    string         // steps at the beginning, with the mistake and without
	wrong    string         // a step with the mistake
	head     string         // fields of the scenario
	without  string         // a pattern of the lines with the mistake
}

const (
	lifecycle = "explore/lifecycle.yaml"
	moved     = "programs/hostdir-move.yaml"
)

// proofs has one proof for each verdict.
var proofs = map[string]proof{
	"alive":             {scenario: moved, broken: "publish-exits"},
	"own":               {head: "always: [{that: \"calls.all(c, c.code != 'Unavailable')\"}]\n", wrong: "fault: {call: NodeStageVolume, loseAnswer: true, times: 1}"},
	"idempotent":        {faulty: "create-not-idempotent", steps: `fault: {call: "*", repeat: true}`},
	"effective":         {faulty: "unpublish-leaks"},
	"contradicted":      {faulty: "attaches-twice", steps: "fault: {call: ControllerPublishVolume, contradict: true}"},
	"single-writer":     {faulty: "attaches-twice", scenario: "../cmd/internal/library/testdata/recovered.yaml", own: seeded.AttachedFromOldView},
	"locks":             {faulty: "stage-keeps-lock", steps: "fault: {call: NodeStageVolume, repeat: true, times: 1}"},
	"addons":            {scenario: "csi-addons/broken/group-member-missing.yaml"},
	"secrets":           {scenario: "../cmd/internal/library/testdata/secrets.yaml", broken: "requests-logged"},
	"sizes":             {faulty: "wrong-capacity"},
	"answers":           {faulty: "create-returns-no-id"},
	"foreign-mounts":    {scenario: "programs/hostdir-neighbours.yaml", broken: "publish-unmounts-others"},
	"data":              {scenario: moved, broken: "detach-loses-data"},
	"leaks":             {faulty: "delete-leaks"},
	"asked-again":       {own: seeded.DeletedAtError, steps: "fault: {call: DeleteVolume, code: Internal, times: 1}"},
	"attached-first":    {own: seeded.StagedUnattached, steps: "fault: {call: ControllerPublishVolume, code: Internal, times: 2}"},
	"handed-on":         {own: seeded.ContextForgotten},
	"staged-first":      {scenario: "../cmd/internal/explore/testdata/rejoined.yaml", own: seeded.MountedWhileUnstaged, steps: "fault: {call: NodeUnstageVolume, lateAnswer: true, times: 1}"},
	"unpublished-first": {faulty: "publish-mounts-nothing", own: seeded.UnpublishedAtError, steps: "fault: {call: NodeUnpublishVolume, code: Internal, times: 1}"},
	"unstaged-first":    {own: seeded.UnstagedAtError, steps: "fault: {call: NodeUnstageVolume, code: Internal, times: 1}"},
	"detached-first":    {scenario: "../cmd/internal/library/testdata/soon.yaml", own: seeded.DeletedInUse},
	"handover":          {scenario: "migration-flags-change.yaml", without: `(?m)^- (upgrade|wait: \{csinode).*\n`},
	"undone":            {scenario: "../cmd/internal/library/testdata/forgotten.yaml", without: `(?m)^- patch: .*\n`},
	"progress":          {wrong: "fault: {call: NodeStageVolume, code: Unavailable}"},
}

func TestEachInvariantFiresAndIsSilent(t *testing.T) {
	for _, in := range verdict.All() {
		t.Run(string(in.Name), func(t *testing.T) {
			p, ok := proofs[string(in.Name)]
			require.True(t, ok, "an invariant has a scenario that breaks it")
			if p.broken != "" {
				withHostdir(t)
			}
			fires := verdicts(t, p, true)
			assert.True(t, slices.ContainsFunc(fires, func(v verdict.Verdict) bool { return v.Is(in.Name) }), "it must fire:\n%v", fires)
			assert.Empty(t, verdicts(t, p, false), "it must be silent")
		})
	}
}

// expectedFailure and ownMistake are lines of a scenario that fails without any mistake of a
// driver.
var (
	expectedFailure = regexp.MustCompile(`(?m)^expect:(\n  | \{)fails: .*$`)
	ownMistake      = regexp.MustCompile(`(?m)^    faulty: .*$`)
)

// verdicts returns the verdicts of the run of a proof.
func verdicts(t *testing.T, p proof, mistaken bool) (all []verdict.Verdict) {
	t.Helper()
	file := p.scenario
	if file == "" {
		file = lifecycle
	}
	read, err := os.ReadFile(file)
	require.NoError(t, err)
	text := expectedFailure.ReplaceAllString(string(read), "")
	steps := p.steps
	if !mistaken {
		text = ownMistake.ReplaceAllString(text, "")
		if p.without != "" {
			text = regexp.MustCompile(p.without).ReplaceAllString(text, "")
		}
	} else {
		if p.faulty != "" {
			text = strings.Replace(text, "mock: {", "mock: {faulty: ["+p.faulty+"], ", 1)
		}
		if p.own != 0 {
			undo := &cleanup{}
			seeded.Plant(undo, p.own)
			defer undo.now()
		}
		if p.wrong != "" {
			steps = p.wrong
		}
	}
	if steps != "" {
		text = strings.Replace(text, "\nsteps:\n", "\n"+p.head+"steps:\n- "+steps+"\n", 1)
	} else {
		text = strings.Replace(text, "\nsteps:\n", "\n"+p.head+"steps:\n", 1)
	}
	s, err := scenario.Parse(file, []byte(text))
	require.NoError(t, err)
	if p.broken != "" {
		if s, err = scenario.Load(file); mistaken {
			s = withBroken(t, file, p.broken)
		}
		require.NoError(t, err)
	}
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
	require.NoError(t, err)
	for _, f := range result.Failures {
		all = append(all, f.Verdict)
	}
	return all
}

// cleanup reverts the changes of a test before the test ends.
type cleanup struct{ undo []func() }

func (c *cleanup) Cleanup(f func()) { c.undo = append(c.undo, f) }

func (c *cleanup) now() {
	for _, f := range c.undo {
		f()
	}
}
