package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// cardOf returns a report card without the parts that differ between runs: times, calls, names.
func cardOf(text string) string {
	text = regexp.MustCompile(`(?m) · .*$|^(?:    )?(replay|found|got|all runs together waited) .*$|^    volume vol-.*$|^note .*\n(?:    .*\n)*\n`).ReplaceAllString(text, "")
	return strings.TrimSpace(regexp.MustCompile(`\n\n+`).ReplaceAllString(text, "\n\n"))
}

// --save writes the flags that describe a driver as a profile; a check with that profile gives the
// same card.
func TestASavedProfileGivesTheSameCard(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	p.Write("secrets.yaml", "CreateVolumeSecret: {user: admin}\nNodeStageVolumeSecret: {key: k3y}\n")
	const only = " --only life/filesystem --only life/block --only life/secrets --only access/* --only repeated/filesystem"
	for name, flags := range map[string]string{
		"a bare command":   "",
		"all of the flags": "--secrets secrets.yaml --mount-option noatime --mount-option nodev --access-mode RWO,ReadWriteMany --fs-type ext4 --no-block --volume-size 32Mi --parameter a=b,c --snapshot-parameter d=e --env X=1=2 --start-timeout 20s --extra-create-metadata --lifecycle Persistent,Ephemeral --pod-info",
		"one process":      "--single",
	} {
		t.Run(name, func(t *testing.T) {
			only := only
			if strings.Contains(flags, "Ephemeral") {
				only += " --only inline/life"
			}
			first := p.checks(t, "--save profiles/my-driver.yaml "+flags+only, "--broken", "stage-not-idempotent")
			require.Equal(t, 1, first.Code, first.Stderr)
			text, err := os.ReadFile(filepath.Join(p.Dir, "profiles/my-driver.yaml"))
			require.NoError(t, err)
			assert.NotContains(t, string(text), "k3y", "a profile is committed, a Secret is not")
			again := outcomeOf(t, p.Command(append([]string{"check", "--profile", "./profiles/my-driver.yaml"}, strings.Fields(only)...)...))
			assert.Equal(t, cardOf(first.Stdout), cardOf(again.Stdout), string(text)+again.Stderr)
			assert.Equal(t, 1, again.Code)
		})
	}
}

func TestASavedProfileIsReadByPeople(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	p.Write("secrets.yaml", "user: admin\n")
	require.NoError(t, os.Symlink(filepath.Join(p.Bin, "hostdir"), filepath.Join(p.Dir, "driver")))
	args := append([]string{"check", "--save", "profiles/my.yaml", "--secrets", "secrets.yaml", "--access-mode", "RWO", "--no-block", "--volume-size", "1Gi", "--lifecycle", "Persistent", "--only", "claims/one", "--", "./driver"}, checkedDriver[1:]...)
	got := outcomeOf(t, p.Command(args...))
	require.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	text, err := os.ReadFile(filepath.Join(p.Dir, "profiles/my.yaml"))
	require.NoError(t, err)
	assert.Equal(t, `apiVersion: csisim.dev/v1alpha1
kind: DriverProfile
driver: hostdir.csi.example.com
binary:
  name: ../driver
arguments:
- --endpoint={{.Endpoint}}
- --driver-name=hostdir.csi.example.com
- --mode={{.Mode}}
- --node-id={{.NodeID}}
- --state-dir={{.StateDir}}
- --node-state-dir={{.NodeStateDir}}
csiDriver:
  attachRequired: true
  podInfoOnMount: false
  volumeLifecycleModes:
  - Persistent
volumeModes:
- Filesystem
accessModes:
- ReadWriteOnce
volumeSize: 1Gi
secretsFile: ../secrets.yaml
`, string(text))
	got = outcomeOf(t, p.Command("check", "--profile", "profiles/my.yaml", "--only", "claims/one"))
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
}

// csisim finds a driver at the socket that the driver's author chose, on two nodes at once.
func TestADriverServesAtASeparateSocket(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	args := []string{"check", "--plugin-socket", "/run/my-driver/plugin.sock", "--only", "life/filesystem", "--only", "move/there-and-back", "--only", "restart/driver-on-node", "--", "hostdir", "--endpoint=unix:///run/my-driver/plugin.sock"}
	got := outcomeOf(t, p.Command(append(args, checkedDriver[2:]...)...))
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, ": 3 passed, 0 failed · ")
	assert.NoDirExists(t, "/run/my-driver")
	assert.Empty(t, p.Leftovers())
}

func TestSecretsAreNotPrintedAndKeptForTheirOwner(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	p.Write("secrets.yaml", "password: hunter22\n")
	got := p.checks(t, "--secrets secrets.yaml --only repeated/filesystem --out kept --json card.json --junit junit.xml -v", "--broken", "stage-not-idempotent")
	assert.Equal(t, 1, got.Code, got.Stderr)
	assert.NotContains(t, got.Stdout+got.Stderr, "hunter22")
	for _, file := range []string{"card.json", "junit.xml"} {
		text, err := os.ReadFile(filepath.Join(p.Dir, file))
		require.NoError(t, err)
		assert.NotContains(t, string(text), "hunter22", file)
	}
	info, err := os.Stat(filepath.Join(p.Dir, "kept/repeated-filesystem.yaml"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}
