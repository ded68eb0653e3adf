package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
)

func TestMain(m *testing.M) {
	if explore.MakesRuns() {
		main()
	}
	clitest.Main(m, main)
}

// A mistake on the command line is reported in one line, with a hint below it, and the exit code is
// 2.
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
		{"check --only life/filesystem --print -- hostdir --node-id=x", "--print needs a value: it is followed by -- and the driver's command", "csisim check --help"},
		{"check --only -- hostdir --endpoint=x", "--only needs a value: it is followed by -- and the driver's command", "csisim check --help"},
		{"schema please", "unexpected argument please", "csisim schema --help"},
		{"steps a b", "unexpected argument b", "csisim steps --help"},
		{"steps weit", `unknown step "weit"; did you mean "wait"?`, "csisim steps"},
		{"profiles nsf", `unknown profile "nsf"; did you mean "nfs"?`, "csisim profiles"},
		{"rum", `unknown command "rum"; did you mean "run"?`, "csisim --help"},
	} {
		t.Run(test.args, func(t *testing.T) {
			got := clitest.Run(t, strings.Fields(test.args)...)
			assert.Equal(t, 2, got.Code)
			assert.Empty(t, got.Stdout)
			lines := strings.Split(strings.TrimSpace(got.Stderr), "\n")
			require.Len(t, lines, 2, got.Stderr)
			assert.Equal(t, "csisim: "+test.message, lines[0])
			assert.Contains(t, lines[1], "'"+test.hint+"'")
		})
	}
}

func TestVersionNamesTheSimulatedReleases(t *testing.T) {
	got := clitest.Run(t, "version")
	assert.Zero(t, got.Code)
	assert.Regexp(t, `^csisim \S+.*\nCSI spec \S+\nKubernetes API \S+\n$`, got.Stdout)
}

func TestProfilesAreListedAndPrinted(t *testing.T) {
	assert.Regexp(t, `(?m)^nfs +nfs\.csi\.k8s\.io +https://github\.com/kubernetes-csi/csi-driver-nfs$`, clitest.Run(t, "profiles").Stdout)
	got := clitest.Run(t, "profiles", "nfs")
	assert.Zero(t, got.Code)
	_, err := profile.Parse("nfs.yaml", []byte(got.Stdout))
	assert.NoError(t, err)
}

// Shells offer YAML files as scenarios, and the names of strategies.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		assert.Contains(t, clitest.Run(t, "completion", shell).Stdout, "csisim", shell)
	}
	files := clitest.Run(t, "__complete", "run", "").Stdout
	assert.Regexp(t, `(?s)^yaml\nyml\n:8\n`, files, "8 filters files by extension")
	strategies := clitest.Run(t, "__complete", "run", "--strategy", "").Stdout
	assert.Regexp(t, `(?s)^calm\t.*\nrandom\t.*\n:4\n`, strategies, "4 offers no files")
	trials := clitest.Run(t, "__complete", "check", "--only", "").Stdout
	assert.Contains(t, trials, "life/*\tLife of a volume\n")
	until := clitest.Run(t, "__complete", "run", "../../scenarios/rwo-filesystem.yaml", "--until", "").Stdout
	assert.Contains(t, until, "1\tapply\n")
	steps := clitest.Run(t, "__complete", "steps", "").Stdout
	assert.Contains(t, steps, "wait\t")
	assert.Regexp(t, `(?s)\nnfs\n.*:4\n`, clitest.Run(t, "__complete", "profiles", "").Stdout)
}

// place is the directory of a run, with the helpers of these tests.
type place struct{ *clitest.Place }

func newPlace(t *testing.T, bin string) *place {
	t.Helper()
	return &place{clitest.NewPlace(t, bin)}
}
