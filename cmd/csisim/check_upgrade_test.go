package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// upgrades runs csisim check --upgrade-from on two releases of the reference driver.
func (p *place) upgrades(t *testing.T, old, new, flags string) clitest.Outcome {
	t.Helper()
	from := strings.Join(append(slices.Clone(checkedDriver), strings.Fields(old)...), " ")
	args := append([]string{"check", "--upgrade-from", from}, strings.Fields(flags)...)
	args = append(append(append(args, "--"), checkedDriver...), strings.Fields(new)...)
	return outcomeOf(t, p.Command(args...))
}

func TestAnUpgradeIsCheckedAndReplayed(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.upgrades(t, "", "--format=v2 --broken=upgrade-changes-node-ids", "--only upgrade/created --only upgrade/published --only rollback/published --json card.json")
	assert.Equal(t, 1, got.Code, got.Stderr)
	for _, part := range []string{
		"hostdir.csi.example.com 0.1.0 → 0.1.0\n",
		"  node id of node-a         node-a → v2-node-a\n                            concerns existing attachments, which have the old node id\n",
		"created                       passed            -                 -                 -\n",
		"published                     FAILED            FAILED            -                 -\n",
		"NodePublishVolume fails for good",
	} {
		assert.Contains(t, got.Stdout, part)
	}
	var card struct {
		Upgrade struct {
			From        string
			Differences []struct{ What, Old, New, Concerns string }
		}
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, "card.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &card))
	assert.Equal(t, "0.1.0", card.Upgrade.From)
	require.NotEmpty(t, card.Upgrade.Differences)
	assert.Equal(t, "node id of node-a", card.Upgrade.Differences[0].What)

	_, replay, found := strings.Cut(got.Stdout, "\nreplay    ")
	require.True(t, found)
	replay, _, _ = strings.Cut(replay, "\n")
	again := p.shell(t, replay)
	assert.Equal(t, 1, again.Code, again.Stderr)
	assert.Contains(t, again.Stdout, "the driver fails NodePublishVolume on node-a: volume vol-")
	assert.Empty(t, p.Leftovers())
}

func TestTwoEqualReleasesAreNamedAndChecked(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.upgrades(t, "", "", "--only upgrade/published --only rollback/published")
	assert.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stderr, "both releases are the same program with the same arguments: the check shows the effects of a restart")
	assert.Contains(t, got.Stdout, "  both releases answer alike: version, capabilities, node ids, topology, limits, contexts\n")
}

func TestReleasesOfTwoDriversAreRefused(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.upgrades(t, "--driver-name=old.csi.example.com", "", "--only upgrade/published")
	assert.Equal(t, 2, got.Code, got.Stderr)
	assert.Contains(t, got.Stderr, `the old release is the driver "old.csi.example.com", the new one "hostdir.csi.example.com": volumes of one are not served by the other; want two releases of one driver`)
	assert.Empty(t, p.Leftovers())
}

// Given two binaries of a driver with a profile, when the upgrade is checked, then the profile
// describes how both are started.
func TestAnUpgradeByAProfileTakesTwoBinaries(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := outcomeOf(t, p.Command("check", "--profile", "hostdir", "--upgrade-from-binary", filepath.Join(p.Bin, "hostdir"), "--only", "upgrade/published", "--print", "upgrade/published"))
	assert.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "  versions:\n    new:\n      profile: hostdir\n")
	assert.Contains(t, got.Stdout, "- upgrade-driver: {to: new}\n")
	run := outcomeOf(t, p.Command("check", "--profile", "hostdir", "--upgrade-from-binary", filepath.Join(p.Bin, "hostdir"), "--only", "upgrade/published"))
	assert.Equal(t, 0, run.Code, run.Stdout+run.Stderr)
}

// releaseManifests deploy a release of the reference driver; %s is attachRequired.
const releaseManifests = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: hostdir.csi.example.com}
spec: {attachRequired: %s, fsGroupPolicy: File}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hostdir-controller, namespace: kube-system}
spec:
  selector: {matchLabels: {app: hostdir-controller}}
  template:
    metadata: {labels: {app: hostdir-controller}}
    spec:
      containers:
      - {name: csi-provisioner, image: "registry.example.com/csi-provisioner:v5.3.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: socket, mountPath: /csi}]}
      - {name: csi-attacher, image: "registry.example.com/csi-attacher:v4.7.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: socket, mountPath: /csi}]}
      - {name: driver, image: registry.example.com/hostdir, volumeMounts: [{name: socket, mountPath: /csi}]}
      volumes: [{name: socket, emptyDir: {}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: hostdir-node, namespace: kube-system}
spec:
  selector: {matchLabels: {app: hostdir-node}}
  template:
    metadata: {labels: {app: hostdir-node}}
    spec:
      containers:
      - {name: node-driver-registrar, image: "registry.example.com/csi-node-driver-registrar:v2.15.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: socket, mountPath: /csi}]}
      - name: driver
        image: registry.example.com/hostdir
        securityContext: {privileged: true}
        volumeMounts: [{name: socket, mountPath: /csi}, {name: kubelet, mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}]
      volumes:
      - {name: socket, hostPath: {path: /var/lib/kubelet/plugins/hostdir, type: DirectoryOrCreate}}
      - {name: kubelet, hostPath: {path: /var/lib/kubelet, type: Directory}}
`

// Given the manifests of two releases. When the new manifests no longer attach volumes, then
// running pods lose their publish_context, and the card reports this. The old manifests pass.
func TestAnUpgradeTakesTheManifestsOfBothReleases(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	for name, attach := range map[string]string{"old": "true", "same": "true", "new": "false"} {
		require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(p.Dir, name, "driver.yaml"), fmt.Appendf(nil, releaseManifests, attach), 0o600))
	}
	got := p.upgrades(t, "", "--format=v2", "--deploy same --upgrade-from-deploy old --only upgrade/published --only rollback/published --only upgrade/snapshot")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "snapshot                      -  ", "the manifests have no csi-snapshotter")

	got = p.upgrades(t, "", "--format=v2", "--deploy new --upgrade-from-deploy old --only upgrade/published --only upgrade/nothing")
	assert.Equal(t, 1, got.Code, got.Stderr)
	for _, part := range []string{
		"  CSIDriver attachRequired  true → false\n",
		"concerns the CSIDriver object, which has to be deleted and created: Kubernetes refuses the change",
		"FAIL wrong request: NodePublishVolume",
	} {
		assert.Contains(t, got.Stdout, part)
	}
	assert.Empty(t, p.Leftovers())
}

// Impossible manifests of releases, and their errors.
func TestManifestsOfReleasesAreChecked(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	for flags, want := range map[string]string{
		"--upgrade-from-deploy old":          "--upgrade-from-deploy without --deploy: give the manifests of both releases",
		"--deploy nowhere":                   "--deploy: stat nowhere: no such file or directory",
		"--deploy . --lifecycle Ephemeral":   "--deploy and --lifecycle, --pod-info, --fs-group-policy or --token-request: the manifests have the CSIDriver object",
		"--deploy . --extra-create-metadata": "--deploy and --extra-create-metadata: the manifests have the flags of csi-provisioner",
		"--deploy . --save x.yaml":           "--deploy and --save: a profile has no manifests",
	} {
		got := outcomeOf(t, p.Command(append(append([]string{"check"}, strings.Fields(flags)...), append([]string{"--"}, checkedDriver...)...)...))
		assert.Equal(t, 2, got.Code, flags)
		assert.Contains(t, got.Stderr, want, flags)
	}
}
