package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// The ways in which a call breaks the CSI spec without a single wrong field.
const (
	NotIdempotent verdict.Form = "is not idempotent"
	NoEffect      verdict.Form = "has no effect"
	LeavesTarget  verdict.Form = "leaves what it has to delete"
	LeavesMount   verdict.Form = "leaves a mount"
	// CSI spec: ListVolumes, published_node_ids, "all the node_id of nodes that the volume is
	// controller published on". The list may have more.
	LeavesOutNode verdict.Form = "leaves out a node"

	TwiceWhenOverlapping verdict.Form = "has its effect twice when two calls overlap"
	KeepsLock            verdict.Form = "is answered with ABORTED though no call is under way"
	AttachesTwice        verdict.Form = "attaches a volume of one node to two"
	FailsForGood         verdict.Form = "fails for good"
	MakesSmaller         verdict.Form = "makes a volume smaller"

	// AnswersLess is the form of a remark on one field.
	AnswersLess verdict.Form = "the CSI spec wants the capacity after the expansion"

	acceptsContradiction verdict.Form = "accepts a contradiction"
	failsForDeleted      verdict.Form = "fails for the id of a deleted snapshot"
	ignoresFlags         verdict.Form = "ignores mount_flags"
	ignoresGroup         verdict.Form = "ignores volume_mount_group"
	ignoresReadonly      verdict.Form = "ignores readonly"
	leavesData           verdict.Form = "leaves data"
	leavesDeviceSmall    verdict.Form = "leaves a device too small"
	leavesOrphan         verdict.Form = "leaves an orphan"
	leavesOut            verdict.Form = "leaves out what it lists without a filter"
	leavesOutOnPages     verdict.Form = "leaves out on its pages what it lists at once"
	listsDeleted         verdict.Form = "lists a deleted snapshot"
	listsTwice           verdict.Form = "lists something on two pages"
	logsSecret           verdict.Form = "logs a secret"
	returnsSecret        verdict.Form = "returns a secret"
	publishesNoDevice    verdict.Form = "publishes no block device"
	publishesNoDirectory verdict.Form = "publishes no directory"
	refusesDeleted       verdict.Form = "does not detach a deleted volume"
	refusesPages         verdict.Form = "refuses a list in pages"
	removesOthers        verdict.Form = "removes what the driver has not made"
	twoNames             verdict.Form = "answers with one id for two names"
	unmountsLazily       verdict.Form = "unmounts lazily"
)

// breaks maps forms to the invariants that they break. All other forms break the invariant about
// answers.
var breaks = map[verdict.Form]verdict.Key{
	NotIdempotent:        verdict.Idempotent,
	NoEffect:             verdict.Effective,
	LeavesTarget:         verdict.Effective,
	LeavesMount:          verdict.Effective,
	unmountsLazily:       verdict.Effective,
	acceptsContradiction: verdict.Contradicted,
	TwiceWhenOverlapping: verdict.Contradicted,
	AttachesTwice:        verdict.SingleWriter,
	KeepsLock:            verdict.Locks,
	logsSecret:           verdict.Secrets,
	returnsSecret:        verdict.Secrets,
	leavesData:           verdict.LeftBehind,
	leavesOrphan:         verdict.LeftBehind,
	leavesDeviceSmall:    verdict.Sizes,
	MakesSmaller:         verdict.Sizes,
	removesOthers:        verdict.ForeignMounts,
}
