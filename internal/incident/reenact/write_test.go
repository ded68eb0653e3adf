package reenact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/reenact"
)

const (
	volume = `{"t":1000,"at":"2026-11-28T12:00:00.000Z","k":"api","ev":"ADDED","r":"persistentvolumes","name":"pvc-1","obj":{"spec":{"csi":{"driver":"mock.csi","volumeHandle":"vol-1"}}}}`
	nodeA  = `{"t":1000,"k":"api","ev":"ADDED","r":"nodes","name":"node-a","obj":{"status":{"kubeletVersion":"v1.31.4-gke.100"}}}`
	nodeB  = `{"t":1000,"k":"api","ev":"ADDED","r":"nodes","name":"node-b","obj":{"status":{"kubeletVersion":"v1.29.0"}}}`
)

// Given nodes with known releases, then the scenario has the newest release, and the releases of
// older nodes.
func TestAScenarioHasTheReleasesOfTheNodes(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"two releases":       {[]string{volume, nodeA, nodeB}, "kubernetes: \"1.31\"\ncluster:\n  nodes: [{\"name\":\"node-a\"},{\"kubernetes\":\"1.29\",\"name\":\"node-b\"}]\n"},
		"no release":         {[]string{volume, strings.Replace(nodeA, "v1.31.4-gke.100", "", 1)}, "imported from logs.\ncluster:\n  nodes: [{\"name\":\"node-a\"}]\n"},
		"an unknown release": {[]string{volume, strings.Replace(nodeA, "v1.31.4-gke.100", "v9.1.0", 1)}, "imported from logs.\ncluster:\n"},
		"a kubelet that is too old": {[]string{volume, nodeA, strings.Replace(nodeB, "v1.29.0", "v1.25.0", 1)},
			"{\"kubernetes\":\"1.28\",\"name\":\"node-b\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			story, err := reenact.Read(strings.NewReader(strings.Join(c.lines, "\n")))
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, story.Write(&text, "the logs"))
			assert.Contains(t, text.String(), c.want)
		})
	}
}
