package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Browse runs one of the viewer's tests in a real browser.
func Browse(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	web := filepath.Join(root(), "internal/view/web")
	if _, err := os.Stat(web + "/node_modules/playwright-core"); err != nil {
		t.Skip("there is no " + web + "/node_modules: run npm ci there")
	}
	return exec.CommandContext(t.Context(), node, append([]string{web + "/test/" + script, chromium}, args...)...)
}
