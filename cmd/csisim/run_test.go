package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/trace"
	kubernetes "github.com/csisim/csisim/internal/world/version"
)

const (
	passes     = "testdata/scenarios/passes.yaml"
	fails      = "testdata/scenarios/fails.yaml"
	impossible = "testdata/scenarios/impossible.yaml"
	mistakes   = "testdata/mistakes/unknown.yaml"
)

// The exit code is 0 if all passed, 1 if an expectation failed, 2 for bad input, 3 if the
// environment does not permit the run. For several scenarios it is the highest.
func TestExitCodeShowsHowTheRunEnded(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		code int
		last string
	}{
		{"passed", []string{passes}, 0, "1 scenario: 1 passed, 0 failed · "},
		{"an expectation failed", []string{fails}, 1, "1 scenario: 0 passed, 1 failed · "},
		{"a mistake in a scenario", []string{mistakes, passes}, 2, ""},
		{"no such step", []string{passes, "--until", "99"}, 2, "1 scenario: 0 passed, 0 failed, 1 could not run · "},
		{"no such program", []string{impossible}, 3, "1 scenario: 0 passed, 0 failed, 1 could not run · "},
		{"all of them", []string{"testdata/scenarios"}, 3, "3 scenarios: 1 passed, 1 failed, 1 could not run · "},
		{"until before the failure", []string{fails, "--until", "2"}, 0, "1 scenario: 1 passed, 0 failed · "},
		{"twice the same", []string{passes, "--check-determinism", "--seed", "7"}, 0, "1 scenario: 1 passed, 0 failed · "},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := clitest.Run(t, append([]string{"run", "--work-dir", t.TempDir()}, test.args...)...)
			assert.Equal(t, test.code, got.Code, got.Stderr)
			assert.True(t, strings.HasPrefix(lastLine(got.Stdout), test.last), got.Stdout)
		})
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// The report of a failure shows its place, the events before it, the replay command and its trace.
// In a pipe it has no escape sequences.
func TestAFailureNamesTheCommandOfItsReplay(t *testing.T) {
	traceFile := filepath.Join(t.TempDir(), "new", "out.jsonl")
	got := clitest.Run(t, "run", fails, "--seed", "7", "--trace", traceFile)
	assert.Equal(t, 1, got.Code)
	for _, part := range []string{
		"FAIL fails  ",
		fails + ":22  step 3: bound\n",
		"→ CreateVolume pvc-",
		"✗ Internal: ",
		"    replay    csisim run " + fails + " --strategy random --seed 7\n",
		"    trace     " + traceFile + "\n",
	} {
		assert.Contains(t, got.Stdout, part)
	}
	assert.NotContains(t, got.Stdout, "\x1b")
	assert.NotEmpty(t, readTrace(t, traceFile))
}

func readTrace(t *testing.T, name string) []trace.Line {
	t.Helper()
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	lines, err := trace.Read(file)
	require.NoError(t, err)
	return lines
}

func TestEachScenarioWritesItsOwnTrace(t *testing.T) {
	dir := t.TempDir()
	clitest.Run(t, "run", passes, fails, "--trace", filepath.Join(dir, "t.jsonl"))
	assert.NotEmpty(t, readTrace(t, filepath.Join(dir, "passes-t.jsonl")))
	assert.NotEmpty(t, readTrace(t, filepath.Join(dir, "fails-t.jsonl")))
}

// A trace begins with the versions of csisim and of the scenario's Kubernetes, and its page shows
// them.
func TestATraceNamesTheVersionsThatMadeIt(t *testing.T) {
	dir := t.TempDir()
	older := filepath.Join(dir, "older.yaml")
	text, err := os.ReadFile(passes)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(older, append(text, "\nkubernetes: \"1.30\"\n"...), 0o600))
	for scenario, release := range map[string]string{passes: kubernetes.Newest.String(), older: "1.30"} {
		made := filepath.Join(dir, release+".jsonl")
		require.Equal(t, 0, clitest.Run(t, "run", scenario, "--trace", made).Code)
		head := readTrace(t, made)[0]
		assert.Equal(t, trace.MadeWith, head.K)
		assert.Equal(t, release, head.Obj.(map[string]any)["kubernetes"])
		page := filepath.Join(dir, release+".html")
		require.Equal(t, 0, clitest.Run(t, "view", made, "--output", page).Code)
		shown, err := os.ReadFile(page)
		require.NoError(t, err)
		assert.Regexp(t, `\["Versions","csisim [^"]+, Kubernetes `+release+`"\]`, string(shown))
	}
}

func TestVerboseShowsTheStory(t *testing.T) {
	got := clitest.Run(t, "run", passes, "-v")
	for _, part := range []string{"→ CreateVolume pvc-", "bound to pv/pvc-", "→ DeleteVolume ", "because of line 7", "PV controller", "the cluster comes up: "} {
		assert.Contains(t, got.Stdout, part)
	}
	assert.NotContains(t, got.Stdout, "GetPluginInfo", "it begins with the first step")
	assert.Contains(t, clitest.Run(t, "run", passes, "-vv").Stdout, "→ Probe {}", "-vv folds nothing, and begins with the cluster")
}

func TestJUnitReportIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junit.xml")
	clitest.Run(t, "run", "testdata/scenarios", "--junit", file)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	require.NoError(t, xml.Unmarshal(text, &suites))
	assert.Equal(t, [3]int{3, 1, 1}, [3]int{suites.Tests, suites.Failures, suites.Errors})
}

// In a GitHub workflow, failures and mistakes are attached to their lines.
func TestAnnotationsAreWrittenInAWorkflow(t *testing.T) {
	workspace, err := filepath.Abs("../..")
	require.NoError(t, err)
	workflow := []string{"GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + workspace}
	assert.Contains(t, clitest.RunIn(t, workflow, "run", fails).Stdout, "\n::error file=cmd/csisim/"+fails+",line=22,title=fails::timed out waiting")
	got := clitest.RunIn(t, workflow, "validate", mistakes)
	assert.Contains(t, got.Stdout, "::error file=cmd/csisim/"+mistakes+",line=4,col=1,title=scenario::cloud: found unknown field")
	assert.Contains(t, got.Stdout, ",line=6,")
}

// All mistakes of all files are reported at once, and no scenario is run.
func TestValidateShowsAllMistakes(t *testing.T) {
	got := clitest.Run(t, "validate", mistakes, passes)
	assert.Equal(t, 2, got.Code)
	assert.Empty(t, got.Stdout)
	assert.Regexp(t, `(?s)^testdata/mistakes/unknown.yaml:4:1: cloud: .*\ntestdata/mistakes/unknown.yaml:6:\d+: .*did you mean "wait"\?\ncsisim: 2 mistakes in 1 file\n$`, got.Stderr)

	got = clitest.Run(t, "validate", "testdata/scenarios")
	assert.Equal(t, clitest.Outcome{Stdout: "3 scenarios, no mistakes\n"}, got)
}

func TestStepsAndSchemaDescribeTheLanguage(t *testing.T) {
	assert.Regexp(t, `(?m)^wait  +Lets virtual time pass`, clitest.Run(t, "steps").Stdout)
	assert.Regexp(t, `(?s)^wait\n  Lets .*\nFields\n.*\nExample\n  wait: `, clitest.Run(t, "steps", "wait").Stdout)
	assert.Contains(t, clitest.Run(t, "schema").Stdout, `"$schema"`)
}

// The next run, or clean, removes the leftovers of a killed run and reports them.
func TestLeftoversOfKilledRunsAreRemoved(t *testing.T) {
	for _, args := range [][]string{{"clean"}, {"run", passes}} {
		t.Run(args[0], func(t *testing.T) {
			parent := t.TempDir()
			dead := exec.Command("true")
			require.NoError(t, dead.Run())
			left := filepath.Join(parent, fmt.Sprintf("csisim-%d-1", dead.ProcessState.Pid()))
			require.NoError(t, os.MkdirAll(filepath.Join(left, "node-a"), 0o700))

			got := clitest.Run(t, append(args, "--work-dir", parent)...)
			assert.Zero(t, got.Code)
			assert.Contains(t, got.Stdout+got.Stderr, "removed "+left)
			assert.NoDirExists(t, left)
		})
	}
	assert.Equal(t, "nothing is left behind\n", clitest.Run(t, "clean", "--work-dir", t.TempDir()).Stdout)
}

// The first signal ends the run cleanly. The exit code shows which signal it was.
func TestASignalEndsTheRunInOrder(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			c := clitest.Command(t.Context(), nil, "run", "testdata/endless/century.yaml", "-v")
			var stderr strings.Builder
			c.Stderr = &stderr
			stdout, err := c.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, c.Start())
			lines := bufio.NewScanner(stdout)
			require.True(t, lines.Scan(), "it has begun")
			require.NoError(t, c.Process.Signal(signal))
			last := ""
			for lines.Scan() {
				last = lines.Text()
			}
			_ = c.Wait()
			assert.Equal(t, 128+int(signal), c.ProcessState.ExitCode())
			assert.Contains(t, last, "1 scenario: 0 passed, 0 failed, 1 not run")
			assert.Contains(t, stderr.String(), "csisim: interrupted")
		})
	}
}

// A scenario with an optional program that is missing neither passes nor fails.
func TestAScenarioWithoutItsOptionalProgramIsNotTried(t *testing.T) {
	dir := t.TempDir()
	const text = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\ndrivers: [{name: a.example.com, program: {optional: true, command: [no-such-driver]}}]\nsteps: [{settle: {}}]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "third-party.yaml"), []byte(text), 0o600))
	junit := filepath.Join(dir, "junit.xml")
	got := clitest.Run(t, "run", dir, "../../scenarios/attach-limit.yaml", "--junit", junit)
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "---- third-party\n    not tried: program not found: no-such-driver is not in PATH")
	assert.Contains(t, got.Stdout, "2 scenarios: 1 passed, 0 failed, 1 not tried · ")
	written, err := os.ReadFile(junit)
	require.NoError(t, err)
	assert.Contains(t, string(written), `<skipped message="program not found: no-such-driver`)

	alone := clitest.Run(t, "run", dir)
	assert.Equal(t, exitEnvironment, alone.Code)
	assert.Contains(t, alone.Stderr, "nothing was tried")
}
