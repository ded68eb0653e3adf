package check

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/invariant"
)

func TestBlameFollowsFromWhatWasSeen(t *testing.T) {
	for _, c := range []struct {
		finding Finding
		want    invariant.Blame
	}{
		{Finding{Verdict: "CreateVolume is not idempotent: volume vol-0001, then vol-0002", rank: invariant.Breach}, invariant.Driver},
		{Finding{Verdict: "NodeStageVolume fails for good: Internal: no", rank: invariant.Refuses}, invariant.Driver},
		{Finding{Verdict: "driver died: driver d on node-a: exit status 2", rank: invariant.Dies}, invariant.Driver},
		{Finding{Verdict: "left behind: mount /x: made by NodePublishVolume at 1 s, should have gone with NodeUnpublishVolume at 2 s", rank: invariant.Leaks}, invariant.Driver},
		{Finding{Verdict: "left behind: snapshot s: made by CreateSnapshot at 1 s, should have gone with DeleteSnapshot, which never came", rank: invariant.Leaks}, invariant.Kubernetes},
		{Finding{Verdict: "timed out waiting for the condition: pod web in phase Running", rank: invariant.Waits}, invariant.Kubernetes},
		{Finding{Verdict: "data lost: pod web finds nothing in data", rank: invariant.Spoils}, invariant.Driver},
		{Finding{Verdict: "foreign mount: /x", rank: invariant.Spoils}, invariant.Driver},
		{Finding{Verdict: "1 call of CreateVolume, wanted 2", rank: invariant.Spoils}, invariant.Scenario},
	} {
		assert.Equal(t, c.want, c.finding.Blame(), c.finding.Verdict)
	}
}
