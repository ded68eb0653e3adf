//go:build linux

package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
)

func TestOptionsTellAllMistakesAtOnce(t *testing.T) {
	_, err := parseOptions([]string{"--mode", "all", "--max-volumes", "-1", "--addons-endpoint", "/a.sock"}, io.Discard)
	for _, missing := range []string{"--endpoint", "--state-dir", "--node-id", "--max-volumes", "--addons-endpoint needs --csi-addons"} {
		assert.ErrorContains(t, err, missing)
	}
}

func TestOptionsChooseServicesAndDefects(t *testing.T) {
	o, err := parseOptions([]string{
		"--endpoint", "/csi.sock", "--state-dir", "/s", "--mode", "controller", "--no-stage",
		"--topology", "zone=a", "--broken", "ignore-readonly,lost-state-on-restart",
	}, io.Discard)
	require.NoError(t, err)
	assert.True(t, o.config.Controller)
	assert.False(t, o.config.Node)
	assert.True(t, o.config.Attach)
	assert.False(t, o.config.Stage)
	assert.Equal(t, map[string]string{"zone": "a"}, o.config.Topology)
	assert.Equal(t, []string{"ignore-readonly", "lost-state-on-restart"}, o.defects.Names())
}

func TestHelpListsTheBrokenBehaviours(t *testing.T) {
	var help strings.Builder
	_, err := parseOptions([]string{"--help"}, &help)
	require.Error(t, err)
	assert.Contains(t, help.String(), "unpublish-leaves-target-dir")

	_, err = parseOptions([]string{"--broken", "no-such"}, io.Discard)
	assert.ErrorContains(t, err, "no-such")
}

func TestOptionsDescribeWorkOutsideTheCalls(t *testing.T) {
	required := []string{"--endpoint", "/csi.sock", "--state-dir", "/s", "--node-id", "a"}
	o, err := parseOptions(append(required, "--attach-delay", "700ms", "--detach-delay", "1s", "--detach-answers-first", "--round-up", "1Gi"), io.Discard)
	require.NoError(t, err)
	assert.Equal(t, backend.Jobs{Attach: 700 * time.Millisecond, Detach: time.Second, DetachLater: true, RoundUp: 1 << 30}, o.config.Jobs)

	_, err = parseOptions(append(required, "--detach-answers-first"), io.Discard)
	assert.ErrorContains(t, err, "--detach-answers-first needs --detach-delay")
	_, err = parseOptions(append(required, "--round-up", "0"), io.Discard)
	assert.ErrorContains(t, err, "expected a size above 0")
}
