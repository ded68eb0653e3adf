package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given a release that refuses the mounts of another one, when a search replaces the release at
// calls, then it finds the right call, and the replay shows the finding again.
func TestASearchReplacesTheReleaseAtCalls(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	p.Write("upgrade.yaml", upgradeScenario("--broken=upgrade-changes-flags"))
	args := []string{"explore", "upgrade.yaml", "--faults", "upgrade", "--strategy", "exhaustive", "--budget", "1", "--deviations", "0", "--runs", "60", "--out", "."}
	got := outcomeOf(t, p.Command(args...))
	assert.Equal(t, 1, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "NodeStageVolume fails for good: AlreadyExists")
	assert.Contains(t, got.Stdout, "driver upgraded before the answer")
	replays, err := filepath.Glob(filepath.Join(p.Dir, "*nodestagevolume-fails-for-good*.csisim.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, replays)
	again := outcomeOf(t, p.Command("replay", replays[0]))
	assert.Equal(t, 1, again.Code, again.Stderr)
	assert.Contains(t, again.Stdout, "driver hostdir.csi.example.com on node-a started, version v2")

	p.Write("upgrade.yaml", upgradeScenario("--format=v2"))
	sound := outcomeOf(t, p.Command(args...))
	assert.Equal(t, 0, sound.Code, sound.Stdout)
	assert.Empty(t, p.Leftovers())
}

// upgradeScenario is a volume's life with two releases of the reference driver.
func upgradeScenario(flags string) string {
	command := strings.Join(checkedDriver[1:], "', '")
	return fmt.Sprintf(`apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 1}
drivers:
- name: hostdir.csi.example.com
  program: {command: [hostdir, '%[1]s']}
  versions: {v2: {program: {command: [hostdir, '%[1]s', '%[2]s']}}}
objects:
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: hostdir}
  provisioner: hostdir.csi.example.com
steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 16Mi}}, storageClassName: hostdir}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: c, image: registry.local/sleep:1, volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
- delete: {pod: web}
- wait: {pod: web, gone: true}
- delete: {pvc: data}
- wait: {pv: "*", gone: true}
`, command, flags)
}

func TestASearchForUpgradesNeedsReleases(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	text, err := os.ReadFile("../../scenarios/attach-errors.yaml")
	require.NoError(t, err)
	p.Write("one.yaml", string(text))
	got := outcomeOf(t, p.Command("explore", "one.yaml", "--faults", "upgrade"))
	assert.Equal(t, 2, got.Code)
	assert.Contains(t, got.Stderr, "one.yaml: --faults upgrade: no driver has versions; want versions of a driver program beside the release that is installed first")
}
