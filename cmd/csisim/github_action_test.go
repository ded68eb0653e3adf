package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given a driver of each kind. When the step of the GitHub Action checks it, then the outputs, the
// job summary and the exit code report the result.
func TestTheStepOfTheGitHubActionReportsTheResult(t *testing.T) {
	clitest.NeedsMounts(t)
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("the step counts findings with jq, which GitHub's runners have")
	}
	const driver = " --endpoint={{.Endpoint}} --node-id={{.NodeID}} --state-dir={{.StateDir}} "
	for name, test := range map[string]struct {
		driver, args, known string
		code                int
		outputs, summary    string
	}{
		"sound":    {"hostdir" + driver, "--only life/block", "", 0, "result=passed\nfindings=0\n", "## ✅ hostdir.csisim.dev 0.1.0\n"},
		"broken":   {"hostdir" + driver + "--broken stage-not-idempotent", "--only repeated/filesystem", "", 1, "result=failed\nfindings=1\n", "**NodeStageVolume is not idempotent: OK, then Internal**"},
		"known":    {"hostdir" + driver + "--broken stage-not-idempotent", "--only repeated/filesystem", "known.yaml", 0, "result=passed\nfindings=0\n", "| known | **NodeStageVolume"},
		"untried":  {"hostdir" + driver, "--only life/block,life/filesystem --parallel 1 --budget 1ns", "", 3, "result=untried\nfindings=0\n", "## ⚠️ hostdir.csisim.dev"},
		"no start": {"./missing", "", "", 3, "result=error\nfindings=0\n", ""},
		"mistake":  {"hostdir" + driver, "--bugdet 5m", "", 2, "result=error\nfindings=0\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, clitest.Build(t))
			p.Write("known.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: KnownFindings\ndriver: hostdir.csisim.dev\nfindings:\n- name: 'NodeStageVolume is not idempotent: OK, then Internal'\n")
			script, err := filepath.Abs("../../.github/actions/check/check.sh")
			require.NoError(t, err)
			step := exec.CommandContext(t.Context(), script)
			step.Dir = p.Dir
			step.Env = append(os.Environ(), clitest.AsCommand+"=1", "GITHUB_ACTIONS=", "PATH="+p.Bin+":"+os.Getenv("PATH"), "CSISIM="+filepath.Join(p.Bin, "csisim"), "DRIVER="+test.driver,
				"ARGS=--work-dir w "+test.args, "KNOWN="+test.known, "GITHUB_OUTPUT=outputs", "GITHUB_STEP_SUMMARY=summary")
			out, err := step.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			}
			assert.Equal(t, test.code, code, string(out))
			outputs, err := os.ReadFile(filepath.Join(p.Dir, "outputs"))
			require.NoError(t, err)
			assert.Equal(t, test.outputs+"junit=csisim-report/junit.xml\ncard=csisim-report/card.json\nreport=csisim-report\n", string(outputs))
			summary, _ := os.ReadFile(filepath.Join(p.Dir, "summary"))
			assert.Contains(t, string(summary), test.summary)
			if test.code == 1 {
				assert.FileExists(t, filepath.Join(p.Dir, "csisim-report/index.html"))
				assert.FileExists(t, filepath.Join(p.Dir, "csisim-report/repeated-filesystem.html"))
			}
		})
	}
}
