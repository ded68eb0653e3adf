package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// asContainer runs this program with the default seccomp filter of containers.
const asContainer = "CSISIM_TEST_AS_CONTAINER"

// badInput is a scenario that cannot pass, and the output for its user.
type badInput struct {
	name         string
	scenario     string            // from line 3 on; lines 1 and 2 are apiVersion and kind
	files        map[string]string // beside the scenario
	flags        string
	mount        string // shell command that prepares the work directory w; requires root
	unprivileged bool   // runs as a user without rights
	barred       bool   // runs as a user without the right to create namespaces
	filtered     bool   // runs as root, with the default seccomp filter of containers
	code         int
	says         []string
	never        string // must not be in the output
	// namespaces is set if the scenario needs namespaces.
	namespaces bool
}

// Each mistake is reported once and without delay, with its place, its correction and the exit code
// of its class. Nothing is left of the run.
func TestBadInputIsReportedAndLeavesNothingBehind(t *testing.T) {
	bin := clitest.Build(t)
	for _, test := range slices.Concat(badScenarios, badDrivers, badMachines) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t, bin)
			place.Write("bad.yaml", clitest.Header+test.scenario)
			for name, text := range test.files {
				place.Write(name, text)
			}
			require.NoError(t, os.Mkdir(filepath.Join(place.Dir, strings.Repeat("d", 60)), 0o777))
			require.NoError(t, os.Mkdir(filepath.Join(place.Dir, "locked"), 0o555))
			began := time.Now()
			got := test.run(t, place)
			assert.Less(t, time.Since(began), time.Minute)
			assert.Equal(t, test.code, got.Code)
			for _, words := range test.says {
				assert.Contains(t, got.Stdout+got.Stderr, words)
			}
			if test.never != "" {
				assert.NotContains(t, got.Stdout+got.Stderr, test.never)
			}
			assert.Empty(t, place.Leftovers())
			assert.LessOrEqual(t, strings.Count(got.Stderr, "\n"), 2, "an error and a hint")
			if t.Failed() {
				t.Log(got.Stdout + got.Stderr)
			}
		})
	}
}

func (b badInput) run(t *testing.T, place *place) clitest.Outcome {
	t.Helper()
	c := place.Command(append([]string{"run", "bad.yaml"}, strings.Fields(b.flags)...)...)
	switch {
	case b.unprivileged && !b.namespaces && namespaces.Rootless():
		t.Skip("root in a user namespace has all rights on the files of the user")
	case b.namespaces:
		clitest.NeedsNamespaces(t)
	case b.mount != "":
		clitest.NeedsRoot(t)
		c = within(c, "unshare", "-m", "sh", "-c", b.mount+` && "$@"`, "sh")
	case b.barred:
		clitest.NeedsNamespaces(t)
		c = within(c, "unshare", "--user", "--map-root-user", "sh", "-c",
			`echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@"`, "sh")
	}
	if b.filtered {
		clitest.NeedsRoot(t)
		c.Env = append(c.Env, asContainer+"=1")
		c = within(c, "setpriv", "--bounding-set=-sys_admin")
	}
	if b.unprivileged {
		place.AsUnprivileged(c)
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &exit)
	}
	return clitest.Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: c.ProcessState.ExitCode()}
}

// within wraps a command in another one that runs it.
func within(c *exec.Cmd, words ...string) *exec.Cmd {
	outer := exec.Command(words[0], append(words[1:], c.Args...)...)
	outer.Env, outer.Dir = c.Env, c.Dir
	return outer
}
