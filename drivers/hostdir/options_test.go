//go:build linux

package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/hostdir/internal/broken"
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
	assert.Equal(t, broken.Set{broken.IgnoreReadOnly: true, broken.LostState: true}, o.config.Broken)
}

func TestHelpListsTheBrokenBehaviours(t *testing.T) {
	var help strings.Builder
	_, err := parseOptions([]string{"--help"}, &help)
	require.Error(t, err)
	assert.Contains(t, help.String(), string(broken.UnpublishLeavesTarget))

	_, err = parseOptions([]string{"--broken", "no-such"}, io.Discard)
	assert.ErrorContains(t, err, "no-such")
}
