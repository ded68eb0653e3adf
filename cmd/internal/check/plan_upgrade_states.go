package check

// volumeState is a state of a volume in which the release of its driver is replaced. It is a row of
// the report card.
type volumeState struct {
	title, while string
	needs        []func(*plan) string
	// life brings a volume into the state, replaces the release, and uses the volume until it is
	// deleted.
	life func(*script, replacing)
	// each replaces life for a state that every call can cause. Each call then has a separate
	// trial. Default: life.
	each func(effect) func(*script, replacing)
}

// volumeStates are the rows of the report card, in the order of a volume's life.
var volumeStates = []volumeState{
	{title: "nothing", while: "before there is a volume", life: replacedBeforeLife},
	{title: "created", while: "while a volume is made and not in use", life: replacedWhileCreated},
	{title: "attached", while: "while a volume is attached and not mounted", needs: []func(*plan) string{(*plan).needsAttach}, life: replacedWhileAttached},
	{title: "staged", while: "while a volume is staged and not published", needs: []func(*plan) string{(*plan).needsStage}, life: replacedWhileStaged},
	{title: "published", while: "while a pod uses a volume", life: replacedWhilePublished(data)},
	{title: "block", while: "while a pod uses a raw block volume", needs: []func(*plan) string{needsBlock}, life: replacedWhilePublished(blockData)},
	{title: "read-only", while: "while a pod uses a volume read-only", life: replacedWhileReadOnly},
	{title: "shared", while: "while two pods use a volume", life: replacedWhileShared},
	{title: "unpublished", while: "while a volume is staged and its pod has ended", needs: []func(*plan) string{(*plan).needsStage}, life: replacedBefore("NodeUnstageVolume")},
	{title: "unstaged", while: "while a volume is attached and its pod has ended", needs: []func(*plan) string{(*plan).needsAttach}, life: replacedBefore("ControllerUnpublishVolume")},
	{title: "expanding", while: "while a volume has grown in the backend and not yet on the node", needs: []func(*plan) string{needsNodeGrowth}, life: replacedWhileExpanding},
	{title: "snapshot", while: "while there is a snapshot", needs: []func(*plan) string{(*plan).needsSnapshots, fitsTwo}, life: replacedWithSnapshot},
	{title: "snapshotting", while: "while a snapshot is taken", needs: []func(*plan) string{(*plan).needsSnapshots, fitsTwo}, life: replacedWhileSnapshotting},
	{title: "clone", while: "while pods use a volume and its clone", needs: []func(*plan) string{(*plan).needsClones, fitsTwo}, life: replacedWithClone},
	{title: "inline", while: "while a pod uses an inline volume", needs: []func(*plan) string{needsInline}, life: replacedWithInline},
	{title: "uncertain", while: "while a caller does not know the result of a call", each: replacedWhileUncertain},
}

// needsAttach and needsStage are for states between the calls of a volume's life.
func (p *plan) needsAttach() string { return p.effects()[1].missing }
func (p *plan) needsStage() string  { return p.effects()[2].missing }

func needsBlock(p *plan) string { return p.needsKind(block, oneNodeRW) }

func fitsTwo(p *plan) string { return p.fits(2) }

func needsInline(p *plan) string {
	if !p.facts.Inline() {
		return "the CSIDriver object has no inline volumes"
	}
	return p.facts.InlineRefused
}

// needsNodeGrowth is for volumes that grow in two steps.
func needsNodeGrowth(p *plan) string {
	if len(p.facts.expansions()) < 2 {
		return "the driver does not expand volumes in two steps"
	}
	return first(p.needsGrowth(), p.needsOnline())
}

func (p *plan) needsSnapshots() string {
	return p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")
}

// The pods of a volume: the first uses it before the release is replaced, the second beside the
// first afterwards, and the third after both have ended.
var (
	user   = web(nodeA, data)
	beside = pod{name: "beside", node: nodeA, claims: []claim{data}}
	after  = pod{name: "after", node: nodeA, claims: []claim{data}}
)

// usedOn continues the life of a volume that a running pod uses: a second pod shares it, both end,
// a third one finds the content, and the volume is deleted.
func (s *script) usedOn(r replacing, users ...pod) {
	s.running(users...)
	claims := users[0].claims
	sharing, last := beside, after
	sharing.claims, last.claims = claims, claims
	s.run(sharing)
	s.end(append(users, sharing)...)
	s.detached()
	s.usedAgain(r, last, claims...)
}

// usedAgain lets a pod find the content of volumes that no pod uses, and deletes them.
func (s *script) usedAgain(r replacing, last pod, claims ...claim) {
	s.run(last)
	r.rest()
	s.running(last)
	s.down(claims, last)
}

// unused makes a volume that no pod uses. If the volume's place depends on a pod, a first pod has
// used it.
func (s *script) unused(c claim) {
	s.claim(c)
	if !s.facts.Topology() {
		return
	}
	firstUser := pod{name: "first", node: nodeA, claims: []claim{c}}
	s.run(firstUser)
	s.end(firstUser)
	s.detached()
}

// blocked refuses a call while do runs.
func (s *script) blocked(call string, do func()) {
	s.fault("name: blocked, call: %s, code: Unavailable", call)
	do()
	s.step("clear-fault: blocked")
}

func replacedBeforeLife(s *script, r replacing) {
	r.now()
	s.up([]claim{data}, user)
	s.usedOn(r, user)
}

func replacedWhileCreated(s *script, r replacing) {
	s.unused(data)
	r.now()
	s.run(user)
	s.usedOn(r, user)
}

func replacedWhileAttached(s *script, r replacing) {
	s.claim(data)
	s.blocked(s.facts.firstOnNode(), func() {
		s.apply(user)
		s.step("wait: {call: ControllerPublishVolume, code: OK}")
		s.step("advance: 5s")
		r.now()
	})
	s.usedOn(r, user)
}

// firstOnNode is the first call that mounts a volume.
func (f *Facts) firstOnNode() string {
	if f.Stages() {
		return "NodeStageVolume"
	}
	return "NodePublishVolume"
}

func replacedWhileStaged(s *script, r replacing) {
	s.claim(data)
	s.blocked("NodePublishVolume", func() {
		s.apply(user)
		s.step("wait: {call: NodeStageVolume, code: OK}")
		s.step("advance: 5s")
		r.now()
	})
	s.usedOn(r, user)
}

func replacedWhilePublished(c claim) func(*script, replacing) {
	return func(s *script, r replacing) {
		uses := web(nodeA, c)
		s.up([]claim{c}, uses)
		r.now()
		s.usedOn(r, uses)
	}
}

func replacedWhileReadOnly(s *script, r replacing) {
	reader := pod{name: "reader", node: nodeA, claims: []claim{data}, readOnly: true}
	s.up([]claim{data}, user)
	s.end(user)
	s.run(reader)
	r.now()
	s.running(reader)
	s.end(reader)
	s.detached()
	s.usedAgain(r, after, data)
}

func replacedWhileShared(s *script, r replacing) {
	second := pod{name: "second", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, user, second)
	r.now()
	s.end(second)
	s.usedOn(r, user)
}

// replacedBefore replaces the release after the end of a pod, just before one of the calls that
// tear down its volume.
func replacedBefore(call string) func(*script, replacing) {
	return func(s *script, r replacing) {
		s.up([]claim{data}, user)
		s.blocked(call, func() {
			s.end(user)
			s.step("advance: 5s")
			r.now()
		})
		s.detached()
		s.usedAgain(r, after, data)
	}
}

func replacedWhileExpanding(s *script, r replacing) {
	s.up([]claim{data}, user)
	s.blocked("NodeExpandVolume", func() {
		s.grow(data)
		s.step("wait: {call: ControllerExpandVolume, code: OK}")
		s.step("advance: 5s")
		r.now()
	})
	s.grown(data)
	s.usedOn(r, user)
}

func replacedWithSnapshot(s *script, r replacing) {
	s.up([]claim{data}, user)
	s.snap("daily")
	r.now()
	s.restored(r)
}

func replacedWhileSnapshotting(s *script, r replacing) {
	s.up([]claim{data}, user)
	s.fault("name: unknown, call: CreateSnapshot, loseAnswer: true, code: DeadlineExceeded")
	s.apply(snapshotClass{}, snapshot{"daily", data})
	s.step("wait: {call: CreateSnapshot, count: 1}")
	r.now()
	s.step("clear-fault: unknown")
	s.step(`wait: {volumesnapshot: daily, that: "object.status.readyToUse"}`)
	s.restored(r)
}

// restored makes a volume from a snapshot while a pod uses the source.
func (s *script) restored(r replacing) {
	copied := restoredFrom("daily")
	reader := pod{name: "reader", node: nodeA, claims: []claim{copied}}
	s.up([]claim{copied}, reader)
	s.forget("daily")
	s.usedTogether(r, copied, reader)
}

// usedTogether ends the pods of data and of a copy of it, lets one pod find the content of both,
// and deletes them.
func (s *script) usedTogether(r replacing, copied claim, reader pod) {
	s.running(user, reader)
	s.end(user, reader)
	s.detached()
	s.usedAgain(r, pod{name: "again", node: nodeA, claims: []claim{data, copied}}, data, copied)
}

func replacedWithClone(s *script, r replacing) {
	reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, user)
	s.up([]claim{cloned}, reader)
	r.now()
	s.usedTogether(r, cloned, reader)
}

func replacedWithInline(s *script, r replacing) {
	s.upInline(worker("web", tmp))
	r.now()
	s.running(worker("web", tmp))
	s.upInline(worker("beside", tmp))
	s.end(worker("web", tmp))
	r.rest()
	s.running(worker("beside", tmp))
	s.end(worker("beside", tmp))
}

// replacedWhileUncertain replaces the release after the answers of a call were lost.
func replacedWhileUncertain(e effect) func(*script, replacing) {
	return func(s *script, r replacing) {
		lost := func() { s.fault("name: unknown, call: %s, loseAnswer: true, code: DeadlineExceeded", e.call) }
		tried := func() {
			s.step("wait: {call: %s, count: 1}", e.call)
			s.step("advance: 5s")
			r.now()
			s.step("clear-fault: unknown")
		}
		if !e.undoes() {
			lost()
			s.apply(data, user)
			tried()
			s.running(user)
			s.usedOn(r, user)
			return
		}
		s.up([]claim{data}, user)
		lost()
		s.step("delete: {pod: web}")
		if e.call == "DeleteVolume" {
			s.step("wait: {pod: web, gone: true}")
			s.detached()
			s.step("delete: {pvc: data}")
			tried()
			s.step(`wait: {pv: "*", gone: true}`)
			r.rest()
			return
		}
		tried()
		s.step("wait: {pod: web, gone: true}")
		s.detached()
		s.usedAgain(r, after, data)
	}
}
