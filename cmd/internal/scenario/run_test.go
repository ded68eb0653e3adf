package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/strict/stricttest"
	"github.com/csisim/csisim/sim"
)

// prelude begins every scenario of testdata/runs.txt; %s are the driver's options.
const prelude = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
name: x
drivers:
- name: mock.csi.csisim.dev
  mock: {%s}
objects:
- |
  apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: standard}
  provisioner: mock.csi.csisim.dev
- |
  apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 16Mi}}
    storageClassName: standard
- |
  apiVersion: v1
  kind: Pod
  metadata:
    name: web
  spec:
    nodeSelector:
      kubernetes.io/hostname: node-a
    containers:
    - name: web
      image: registry.local/sleep:1
      volumeMounts:
      - name: data
        mountPath: /data
    volumes:
    - name: data
      persistentVolumeClaim:
        claimName: data
`

func withPrelude(input string) string {
	options := ""
	if first, rest, ok := strings.Cut(input, "\n"); ok {
		if faults, ok := strings.CutPrefix(first, "faulty: "); ok {
			options, input = "faulty: ["+faults+"]", rest
		} else if all, ok := strings.CutPrefix(first, "mock: "); ok {
			options, input = all, rest
		}
	}
	return fmt.Sprintf(prelude, options) + input
}

func TestEveryStepAndExpectationPassesAndFails(t *testing.T) {
	require.Equal(t, 38, strings.Count(prelude, "\n"), "lines of the prelude, as testdata/runs.txt says")
	stricttest.Golden(t, "testdata/runs.txt", func(input string) string {
		s, err := scenario.Parse("x.yaml", []byte(withPrelude(input)))
		if err != nil {
			return "bad input: " + err.Error()
		}
		result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true})
		if err != nil {
			return "error: " + err.Error()
		}
		return got(result)
	})
}

// got formats a result for readers.
func got(r *scenario.Result) string {
	var b strings.Builder
	for _, step := range r.Steps {
		fmt.Fprintf(&b, "%-7s %v (%v)\n", step.State, step.Title, step.Took)
		for _, line := range step.Output {
			fmt.Fprintf(&b, "        %s\n", line)
		}
	}
	for _, f := range r.Failures {
		b.WriteString(f.Text(r.Names))
	}
	for _, note := range slices.Concat(r.Notes, r.Litter) {
		fmt.Fprintln(&b, "note:", note)
	}
	fmt.Fprintf(&b, "%s, %d calls", r.Exit, r.Calls)
	return b.String()
}

func parse(t *testing.T, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("x.yaml", []byte(withPrelude(text)))
	require.NoError(t, err)
	return s
}

func TestARunWithUntilEndsAfterTheNamedStep(t *testing.T) {
	s := parse(t, "steps:\n- advance: 1s\n- name: here\n  advance: 1s\n- advance: 1h\nexpect: {calls: [DeleteVolume]}\n")
	for _, until := range []string{"here", "2"} {
		result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Until: until})
		require.NoError(t, err)
		assert.Equal(t, scenario.Passed, result.Exit, "the expectations at the end are not checked")
		assert.Equal(t, scenario.Skipped, result.Steps[2].State)
		assert.Equal(t, scenario.StepPassed, result.Steps[1].State)
	}
	_, err := scenario.Run(context.Background(), s, scenario.RunOptions{Until: "there"})
	assert.ErrorContains(t, err, `step "there"`)
}

func TestProgressIsReportedWhenAStepBeginsAndEnds(t *testing.T) {
	s := parse(t, "steps:\n- advance: 1s\n- delete: {pvc: none-*}\n- advance: 1s\n")
	var got []string
	_, err := scenario.Run(context.Background(), s, scenario.RunOptions{Progress: func(r scenario.StepResult) {
		got = append(got, fmt.Sprintf("%d %s", r.Number, r.State))
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"1 running", "1 passed", "2 running", "2 failed"}, got)
}

func TestACancelledContextEndsARun(t *testing.T) {
	s := parse(t, "steps:\n- advance: 1s\n- advance: 1s\n")
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("the user had enough")
	cancel(stop)
	_, err := scenario.Run(ctx, s, scenario.RunOptions{})
	assert.ErrorIs(t, err, stop)
}

// A step may apply 100,000 objects, and a large cluster takes long to check.
func TestACancelledContextEndsTheStepThatRuns(t *testing.T) {
	s := parse(t, "steps:\n- apply: "+configMaps+"\nexpect: {calls: [DeleteVolume]}\n")
	ctx, cancel := context.WithCancel(context.Background())
	result, err := scenario.Run(ctx, s, scenario.RunOptions{Progress: func(scenario.StepResult) { cancel() }})
	assert.ErrorIs(t, err, context.Canceled)
	require.Len(t, result.Failures, 1, "the expectations are not checked")
	assert.Contains(t, result.Failures[0].Verdict.Text, "context canceled")
	for _, e := range result.Trace {
		assert.NotEqual(t, "configmaps", e.Resource, "%s", e.Name)
	}
}

const configMaps = `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}, {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}]`

func TestADriverProgramThatDoesNotExistIsTheEnvironmentsFault(t *testing.T) {
	s, err := scenario.Parse("x.yaml", []byte(header+"drivers:\n- {name: a.example.com, program: {command: [./no-such-driver]}}\n"))
	require.NoError(t, err)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{WorkDir: t.TempDir(), Isolation: sim.None})
	require.Error(t, err)
	assert.Equal(t, scenario.Environment, result.Exit, err)
	assert.Equal(t, 3, result.Exit.Code())
}

// With another order of events the run differs, but the scenario must still pass.
func TestTheSameSeedGivesTheSameRun(t *testing.T) {
	s := parse(t, "steps:\n- wait: {pod: web, phase: Running}\n")
	var first string
	for range 2 {
		result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Seed: 7})
		require.NoError(t, err)
		require.Equal(t, scenario.Passed, result.Exit, got(result))
		sequence := scenario.CallSequence(result.Trace)
		if first == "" {
			first = sequence
		}
		assert.Equal(t, first, sequence)
	}
}
