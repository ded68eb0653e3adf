package check

import (
	"testing"
	"time"

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

// Given a failed trial with several faults, when the budget is used up, then trials of its
// faults still have a sixth of it.
func TestPartsOfFailedTrialsHaveAShareOfTheBudget(t *testing.T) {
	ago := func(spent time.Duration) RunOptions {
		r := &running{options: RunOptions{Budget: time.Minute}, began: time.Now().Add(-spent)}
		return r.optionsOfParts(1)
	}
	assert.Equal(t, 10*time.Second, ago(2*time.Minute).Budget)
	assert.Greater(t, ago(time.Second).Budget, 10*time.Second)
	assert.LessOrEqual(t, ago(time.Second).Budget, 59*time.Second)
}
