package golden_test

import "github.com/csisim/csisim/sim/trace/diff"

// reasons say, by level, why a simulated run does not agree with its recording.
type reasons = map[diff.Level]string

// open are the recordings that do not agree on all levels yet, each with the
// reasons; one without has no scenario yet. The list may only shrink.
var open = map[string]reasons{
	"a-registration":             nil,
	"ee1-recreate-elsewhere":     {diff.Events: "the kubelet does not look at the claim after NodePublishVolume, which fails when the pod is gone (fact 49)"},
	"gg1-expand-infeasible":      nil,
	"hh1-list-volumes-reconcile": nil,
	"i1-expand-online":           nil,
	"ii1-other-endpoint":         nil,
	"ii3-other-node-id":          nil,
	"jj1-tokens-in-secrets":      nil,
	"jj3-subpath":                nil,
	"jj5-statefulset":            nil,
	"k-fsgroup":                  nil,
	"kk3-create-codes":           nil,
	"p1-migrated-static":         nil,
	"t-tokens-republish":         nil,
}
