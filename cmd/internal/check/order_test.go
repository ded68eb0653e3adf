package check

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTrialsBeginWithCalmOnesAndThenOneOfEachGroupInTurn(t *testing.T) {
	var trials []*Trial
	for _, name := range [][2]string{
		{"life", "filesystem"}, {"life", "block"}, {"lost", "CreateVolume"}, {"lost", "DeleteVolume"}, {stalled, "CreateVolume"},
		{"restart", "kubelet"}, {inline, "stalled-NodePublishVolume"}, {inline, "life"}, {"restart", "everything"}, {"contradicted", "clone"},
	} {
		trials = append(trials, &Trial{Group: name[0], Title: name[1]})
	}
	var names []string
	for _, i := range order(trials) {
		names = append(names, trials[i].Name())
	}
	assert.Equal(t, []string{
		"life/filesystem", "life/block", "contradicted/clone", "lost/CreateVolume", "inline/life", "restart/everything",
		"lost/DeleteVolume", "restart/kubelet", "stalled/CreateVolume", "inline/stalled-NodePublishVolume",
	}, names)
}
