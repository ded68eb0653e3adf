package check

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBlameFollowsFromWhatWasSeen(t *testing.T) {
	for _, c := range []struct {
		finding Finding
		want    Blame
	}{
		{Finding{Verdict: "CreateVolume is not idempotent: volume vol-0001, then vol-0002", rank: breach}, Driver},
		{Finding{Verdict: "NodeStageVolume fails for good: Internal: no", rank: refuses}, Driver},
		{Finding{Verdict: "driver died: driver d on node-a: exit status 2", rank: dies}, Driver},
		{Finding{Verdict: "left behind: mount /x: made by NodePublishVolume at 1 s, should have gone with NodeUnpublishVolume at 2 s", rank: leaks}, Driver},
		{Finding{Verdict: "left behind: snapshot s: made by CreateSnapshot at 1 s, should have gone with DeleteSnapshot, which never came", rank: leaks}, Kubernetes},
		{Finding{Verdict: "timed out waiting for the condition: pod web in phase Running", rank: waits}, Kubernetes},
		{Finding{Verdict: "data lost: pod web finds nothing in data", rank: spoils}, Driver},
		{Finding{Verdict: "foreign mount: /x", rank: spoils}, Driver},
		{Finding{Verdict: "1 call of CreateVolume, wanted 2", rank: spoils}, Scenario},
	} {
		assert.Equal(t, c.want, c.finding.Blame(), c.finding.Verdict)
	}
}
