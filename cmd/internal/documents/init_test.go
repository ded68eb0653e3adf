package documents

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const driverModule = "module example.com/driver\n\ngo 1.26.0\n"

// repository returns a driver's repository in which csisim init uses the csisim of this checkout.
func repository(t *testing.T) (p *clitest.Place, checkout string) {
	t.Helper()
	checkout, err := filepath.Abs("../../..")
	require.NoError(t, err)
	p = clitest.NewPlace(t, clitest.Build(t))
	p.Write("go.mod", driverModule)
	return p, checkout
}

// initiate runs csisim init in the repository.
func initiate(p *clitest.Place, args ...string) clitest.Outcome {
	p.T.Helper()
	c := p.Command(append([]string{"init"}, args...)...)
	out, _ := c.CombinedOutput() // the output shows the result
	return clitest.Outcome{Stdout: string(out), Code: c.ProcessState.ExitCode()}
}

// goIn runs the go command, which downloads modules that the module cache lacks. go mod tidy needs
// test dependencies, too.
func goIn(p *clitest.Place, dir string, args ...string) {
	p.T.Helper()
	c := exec.CommandContext(p.T.Context(), "go", args...)
	c.Dir = filepath.Join(p.Dir, dir)
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath -mod=mod", "PATH="+p.Bin+":"+os.Getenv("PATH"))
	out, err := c.CombinedOutput()
	require.NoError(p.T, err, string(out))
}

// The files of init run without changes: the scenario, and the Go test in a module nested in the
// driver's module.
func TestTheFilesOfInitRun(t *testing.T) {
	for name, args := range map[string][]string{
		"for the reference driver": {},
		"for a program":            {"--", "hostdir", "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}"},
	} {
		t.Run(name, func(t *testing.T) {
			p, checkout := repository(t)
			got := initiate(p, append([]string{"--replace", checkout}, args...)...)
			require.Zero(t, got.Code, got.Stdout)
			assert.Contains(t, got.Stdout, "cd test/csisim && go mod tidy && go test ./...")

			out, err := p.Command("run", "test/csisim/first.yaml").CombinedOutput()
			require.NoError(t, err, string(out))
			goIn(p, "test/csisim", "mod", "tidy")
			goIn(p, "test/csisim", "test", "./...")

			own, err := os.ReadFile(filepath.Join(p.Dir, "go.mod"))
			require.NoError(t, err)
			assert.Equal(t, driverModule, string(own), "the driver's own module is left alone")
			nested, err := os.ReadFile(filepath.Join(p.Dir, "test/csisim/go.mod"))
			require.NoError(t, err)
			assert.Contains(t, string(nested), "module example.com/driver/test/csisim\n")
		})
	}
}

func TestInitOverwritesNothing(t *testing.T) {
	p, _ := repository(t)
	require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, "here"), 0o755))
	p.Write("here/first.yaml", "mine")
	got := initiate(p, "here")
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stdout, "csisim: here/first.yaml is there already: nothing was written")
	entries, err := os.ReadDir(filepath.Join(p.Dir, "here"))
	require.NoError(t, err)
	assert.Len(t, entries, 1)
}

func TestBadInitIsReportedInOneLine(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"a", "b"}, 2, "unexpected argument b: a driver's program goes behind --"},
		{[]string{"--"}, 2, "nothing behind --"},
		{[]string{"--replace", "nowhere"}, 2, "--replace nowhere: there is no checkout of csisim: no such file or directory"},
		{[]string{"--", "no-such-driver"}, 3, "asking the driver for its name, which --name gives as well: "},
	} {
		p, _ := repository(t)
		got := initiate(p, test.args...)
		assert.Equal(t, test.code, got.Code, got.Stdout)
		assert.Contains(t, got.Stdout, test.want)
		assert.NoDirExists(t, filepath.Join(p.Dir, "test"))
	}
}
