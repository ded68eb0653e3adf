package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/sim/namespaces"
)

// asCommand makes the test binary behave as csisim, so that tests run the real program in a
// separate process.
const asCommand = "CSISIM_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" || explore.MakesRuns() {
		main()
	}
	if os.Getenv(asRegistrar) != "" {
		fmt.Fprintln(os.Stderr, runRegistrar(os.Args[1:]))
		os.Exit(1)
	}
	namespaces.Enter() // the tests see only their own mounts and processes
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	var err error
	if binaries, err = os.MkdirTemp("/tmp", "bin"); err == nil {
		defer os.RemoveAll(binaries)
		err = os.Chmod(binaries, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// outcome is the result of a run of the command.
type outcome struct {
	stdout, stderr string
	code           int
}

// command returns csisim as a process; environment adds to a neutral one.
func command(ctx context.Context, environment []string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], args...)
	c.Env = append(os.Environ(), asCommand+"=1", "GITHUB_ACTIONS=", "TERM=xterm")
	c.Env = append(c.Env, environment...)
	return c
}

func csisim(t *testing.T, args ...string) outcome { return csisimIn(t, nil, args...) }

func csisimIn(t *testing.T, environment []string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := command(t.Context(), environment, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return outcome{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// A mistake on the command line is reported in one line, with a hint below, and exits 2.
func TestWrongUsageIsReportedInOneLineWithAHint(t *testing.T) {
	for _, test := range []struct{ args, message, hint string }{
		{"run", "a scenario FILE is missing", "csisim run --help"},
		{"validate", "a scenario FILE is missing", "csisim validate --help"},
		{"run nowhere.yaml", "nowhere.yaml: no such file or directory", "csisim run --help"},
		{"run testdata/empty", "testdata/empty: there is no scenario in this directory", "csisim run --help"},
		{"run --strategy fair x.yaml", `unknown strategy "fair": there are calm, random`, "csisim run --help"},
		{"run --strategy calm --seed 3 x.yaml", "--seed has no effect with --strategy calm", "csisim run --help"},
		{"run --seed many x.yaml", `invalid argument "many" for "--seed" flag: not a number that fits`, "csisim run --help"},
		{"run --isolation jail x.yaml", `unknown isolation "jail": there are auto, namespace, none`, "csisim run --help"},
		{"run --patience 0s x.yaml", "--patience 0s: it must be more than 0", "csisim run --help"},
		{"run --fast x.yaml", "unknown flag: --fast", "csisim run --help"},
		{"run --strateg x.yaml", "unknown flag: --strateg; did you mean --strategy?", "csisim run --help"},
		{"schema please", "unexpected argument please", "csisim schema --help"},
		{"steps a b", "unexpected argument b", "csisim steps --help"},
		{"steps weit", `unknown step "weit"; did you mean "wait"?`, "csisim steps"},
		{"profiles nsf", `unknown profile "nsf"; did you mean "nfs"?`, "csisim profiles"},
		{"rum", `unknown command "rum"; did you mean "run"?`, "csisim --help"},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := csisim(t, strings.Fields(test.args)...)
			assert.Equal(t, 2, got.code)
			assert.Empty(t, got.stdout)
			lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
			require.Len(t, lines, 2, got.stderr)
			assert.Equal(t, "csisim: "+test.message, lines[0])
			assert.Contains(t, lines[1], "'"+test.hint+"'")
		})
	}
}

func TestVersionNamesWhatIsSimulated(t *testing.T) {
	got := csisim(t, "version")
	assert.Zero(t, got.code)
	assert.Regexp(t, `^csisim \S+.*\nCSI spec \S+\nKubernetes API \S+\n$`, got.stdout)
}

func TestProfilesAreListedAndPrinted(t *testing.T) {
	assert.Regexp(t, `(?m)^nfs +nfs\.csi\.k8s\.io +https://github\.com/kubernetes-csi/csi-driver-nfs$`, csisim(t, "profiles").stdout)
	got := csisim(t, "profiles", "nfs")
	assert.Zero(t, got.code)
	_, err := profile.Parse("nfs.yaml", []byte(got.stdout))
	assert.NoError(t, err)
}

// Shells offer YAML files as scenarios, and the names of strategies.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		assert.Contains(t, csisim(t, "completion", shell).stdout, "csisim", shell)
	}
	files := csisim(t, "__complete", "run", "").stdout
	assert.Regexp(t, `(?s)^yaml\nyml\n:8\n`, files, "8 filters files by extension")
	strategies := csisim(t, "__complete", "run", "--strategy", "").stdout
	assert.Regexp(t, `(?s)^calm\t.*\nrandom\t.*\n:4\n`, strategies, "4 offers no files")
	trials := csisim(t, "__complete", "check", "--only", "").stdout
	assert.Contains(t, trials, "life/*\tLife of a volume\n")
	until := csisim(t, "__complete", "run", "../../scenarios/rwo-filesystem.yaml", "--until", "").stdout
	assert.Contains(t, until, "1\tapply\n")
	steps := csisim(t, "__complete", "steps", "").stdout
	assert.Contains(t, steps, "wait\t")
	assert.Regexp(t, `(?s)\nnfs\n.*:4\n`, csisim(t, "__complete", "profiles", "").stdout)
}
