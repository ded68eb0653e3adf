package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// forgetful is a scenario with a driver that does not unmount.
const forgetful = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers: [{name: mock.csi.csisim.dev, mock: {faulty: [unpublish-leaks]}}]
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: mock.csi.csisim.dev}
- {apiVersion: v1, kind: Secret, metadata: {name: backend}, stringData: {password: s3cret}}
steps:
- apply: {file: pod.yaml}
- wait: {pod: web, phase: Running}
- delete: {pod: web}
- wait: {pod: web, gone: true}
`

func TestAReportOfARunIsOneFile(t *testing.T) {
	dir := t.TempDir()
	file, page := filepath.Join(dir, "forgetful.yaml"), filepath.Join(dir, "reports", "why.html")
	require.NoError(t, os.WriteFile(file, []byte(forgetful), 0o600))
	pod, err := os.ReadFile("../../scenarios/manifests/pod-with-claim.yaml")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pod.yaml"), pod, 0o600))
	got := clitest.Run(t, "run", file, "--report", page)
	require.Equal(t, exitFailed, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "report    "+page)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"verdict":"failed"`)
	assert.Contains(t, string(text), "The driver answered OK to NodeUnpublishVolume, but the volume data of pod web is still mounted at the target path on node-")
	assert.Contains(t, string(text), " run "+file, "the command that makes the run again")
	assert.NotContains(t, string(text), "s3cret")
	files, err := os.ReadDir(filepath.Dir(page))
	require.NoError(t, err)
	assert.Len(t, files, 1)
}

func TestSeveralScenariosHaveAReportEach(t *testing.T) {
	dir := t.TempDir()
	got := clitest.Run(t, "run", "../../scenarios/rwo-filesystem.yaml", "../../scenarios/attach-limit.yaml", "--report", dir)
	require.Zero(t, got.Code, got.Stderr)
	assert.FileExists(t, filepath.Join(dir, "rwo-filesystem.html"))
	assert.FileExists(t, filepath.Join(dir, "attach-limit.html"))
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	require.NoError(t, err)
	assert.Contains(t, string(index), `<a href="attach-limit.html">attach-limit</a>`)
}

func TestACheckReportsOnEachScenarioThatFailed(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--only life/filesystem --only life/block --report reports", "--broken", "unpublish-leaves-mount")
	require.Equal(t, exitFailed, got.Code, got.Stderr)
	text, err := os.ReadFile(filepath.Join(p.Dir, "reports", "life-filesystem.html"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "The driver answered OK to NodeUnpublishVolume")
	assert.Contains(t, string(text), "csisim check --only life/filesystem")
}
