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

	"github.com/csisim/csisim/internal/world/namespaces"
)

// badInput is a scenario that cannot pass, and the output that its user sees.
type badInput struct {
	name         string
	scenario     string            // without apiVersion and kind, which are lines 1 and 2
	files        map[string]string // beside the scenario
	flags        string
	mount        string // shell command that prepares the work directory w; takes root
	unprivileged bool   // runs as a user without rights
	barred       bool   // runs as a user without the right to create namespaces
	filtered     bool   // runs with the seccomp filter that containers have by default, as root
	code         int
	says         []string
	never        string // must not be in the output
	// namespaces is set if the scenario needs namespaces.
	namespaces bool
}

// Each mistake is reported once, with its place, its correction and the exit code of its class,
// without delay; and nothing of the run is left.
func TestBadInputIsReportedAndLeavesNothingBehind(t *testing.T) {
	bin := build(t)
	for _, test := range slices.Concat(badScenarios, badDrivers, badMachines) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t, bin)
			place.write("bad.yaml", header+test.scenario)
			for name, text := range test.files {
				place.write(name, text)
			}
			require.NoError(t, os.Mkdir(filepath.Join(place.dir, strings.Repeat("d", 60)), 0o777))
			require.NoError(t, os.Mkdir(filepath.Join(place.dir, "locked"), 0o555))
			began := time.Now()
			got := test.run(t, place)
			assert.Less(t, time.Since(began), 10*time.Second)
			assert.Equal(t, test.code, got.code)
			for _, words := range test.says {
				assert.Contains(t, got.stdout+got.stderr, words)
			}
			if test.never != "" {
				assert.NotContains(t, got.stdout+got.stderr, test.never)
			}
			assert.Empty(t, place.leftovers())
			assert.LessOrEqual(t, strings.Count(got.stderr, "\n"), 2, "an error and a hint")
			if t.Failed() {
				t.Log(got.stdout + got.stderr)
			}
		})
	}
}

func (b badInput) run(t *testing.T, place *place) outcome {
	t.Helper()
	c := place.command(append([]string{"run", "bad.yaml"}, strings.Fields(b.flags)...)...)
	switch {
	case b.unprivileged && !b.namespaces && namespaces.Rootless():
		t.Skip("root in a user namespace has all rights on the files of the user")
	case b.namespaces:
		needsNamespaces(t)
	case b.mount != "":
		needsRoot(t)
		c = within(c, "unshare", "-m", "sh", "-c", b.mount+` && "$@"`, "sh")
	case b.barred:
		needsNamespaces(t)
		c = within(c, "unshare", "--user", "--map-root-user", "sh", "-c",
			`echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all "$@"`, "sh")
	}
	if b.filtered {
		needsRoot(t)
		c.Env = append(c.Env, asContainer+"=1")
		c = within(c, "setpriv", "--bounding-set=-sys_admin")
	}
	if b.unprivileged {
		place.asUnprivileged(c)
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &exit)
	}
	return outcome{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// within wraps a command in another one that runs it.
func within(c *exec.Cmd, words ...string) *exec.Cmd {
	outer := exec.Command(words[0], append(words[1:], c.Args...)...)
	outer.Env, outer.Dir = c.Env, c.Dir
	return outer
}
