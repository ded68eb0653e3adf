package check

import "fmt"

// repeatedCalls repeats every call once after it took effect.
func repeatedCalls(p *plan) {
	for _, form := range []string{"filesystem", "block"} {
		c := data
		if form == "block" {
			c = blockData
		}
		p.try("repeated", form, "Every call that changes something comes twice.", []string{p.needsKind(c.form, c.access)}, func(s *script) {
			s.fault(`call: "*", repeat: true`)
			s.life([]claim{c}, web(nodeA, c))
		})
	}
	many := claim{name: "data", form: filesystem, access: manyRW}
	p.try("repeated", "many-nodes", "Every call that changes something comes twice, while a pod on another node uses the volume, too.", []string{p.needsKind(many.form, many.access), p.needsNodes(), p.needsOnePlace()}, func(s *script) {
		there := pod{name: "there", node: nodeB, claims: []claim{many}}
		s.fault(`call: "*", repeat: true`)
		s.up([]claim{many}, web(nodeA, many), there)
		s.end(web(nodeA, many))
		s.step("advance: 1m") // it is detached from the first node
		s.running(there)
		s.down([]claim{many}, there)
	})
	p.try("repeated", "read-only", "Every call that changes something comes twice, for a read-only pod.", nil, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.life([]claim{data}, pod{name: "reader", node: nodeA, claims: []claim{data}, readOnly: true})
	})
}

// contradictedCalls makes calls that conflict with the result of the call before.
func contradictedCalls(p *plan) {
	for _, e := range p.effects()[:2] {
		needs := []string{e.missing}
		attaches := e.call == "ControllerPublishVolume"
		if attaches {
			needs = append(needs, p.needsNodes())
		}
		p.try("contradicted", e.call, e.call+" is repeated with a request that conflicts with the first.", needs, func(s *script) {
			if attaches {
				s.nodes = 2
			}
			s.fault("call: %s, contradict: true", e.call)
			s.life([]claim{data}, web(nodeA, data))
		})
	}
}

// contradictedCopies takes a snapshot, and creates volumes from it and from another volume. The
// driver must not confuse the two sources.
func contradictedCopies(p *plan) {
	p.try("contradicted", "CreateSnapshot", "CreateSnapshot is repeated with the same name and another volume, and CreateVolume with the same name and without the snapshot.",
		[]string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter"), p.fits(3)}, func(s *script) {
			other, restored := claim{name: "other", form: filesystem, access: oneNodeRW}, restoredFrom("daily")
			reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
			s.up([]claim{data, other}, pod{name: "web", node: nodeA, claims: []claim{data, other}})
			s.fault("call: CreateSnapshot, contradict: true")
			s.fault("call: CreateVolume, contradict: true")
			s.snap("daily")
			s.up([]claim{restored}, reader)
			s.forget("daily")
			s.down([]claim{data, other, restored}, pod{name: "web"}, reader)
		})
	p.try("contradicted", "clone", "CreateVolume of a clone is repeated with the same name and without its source.", []string{p.needsClones(), p.fits(2)}, func(s *script) {
		s.fault("call: CreateVolume, contradict: true")
		s.lifeWithClone()
	})
}

// contradictedPublish publishes a volume for a single pod at a second path.
func contradictedPublish(p *plan) {
	lacks := ""
	if !p.facts.caps.Node.Has("SINGLE_NODE_MULTI_WRITER") {
		lacks = "the node service lacks SINGLE_NODE_MULTI_WRITER"
	}
	c := claim{name: "data", form: filesystem, access: onePodRW}
	p.try("contradicted", "NodePublishVolume", "A volume for a single pod is published at another path as well.", []string{lacks, p.needsKind(c.form, c.access)}, func(s *script) {
		s.fault("call: NodePublishVolume, contradict: true")
		s.life([]claim{c}, web(nodeA, c))
	})
}

// lostAnswers: the driver performs a call, and the caller never receives the answer.
func lostAnswers(p *plan) {
	for _, e := range p.effects() {
		description := fmt.Sprintf("The answer of %s is lost twice, then it comes too late.", e.call)
		p.try("lost", e.call, description, []string{e.missing}, func(s *script) {
			s.losesAnswers(e.call)
			s.lifeWith(e)
		})
	}
	p.try("lost", "block", "The answer of every call is lost once, for a raw block volume.", []string{p.needsKind(block, oneNodeRW)}, func(s *script) {
		for _, e := range p.effects() {
			if e.missing == "" {
				s.fault("call: %s, loseAnswer: true, times: 1", e.call)
			}
		}
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
}

// losesAnswers drops three answers of a call before they reach the caller.
func (s *script) losesAnswers(call string) {
	s.fault("name: lost, call: %s, loseAnswer: true, times: 1", call)
	s.fault("name: timed-out, call: %s, loseAnswer: true, code: DeadlineExceeded, times: 1", call)
	s.fault("name: late, call: %s, lateAnswer: true, times: 1", call)
}

// timedOutCalls lets the deadline of a call expire while the driver works on it, which cancels the
// call's context.
func timedOutCalls(p *plan) {
	for _, e := range p.effects() {
		description := fmt.Sprintf("The deadline of %s passes while the driver works on it, twice.", e.call)
		p.try("timed-out", e.call, description, []string{e.missing}, func(s *script) {
			s.fault("call: %s, timeOut: true, times: 2", e.call)
			s.lifeWith(e)
		})
	}
}

// stalled is the group of trials in which the driver is stopped in a call.
const stalled = "stalled"

// stalledCalls stops the driver in a call, which is repeated. The first call continues while the
// result of the second one is in use. In a second life of the volume, the first call continues only
// after the result was removed.
func stalledCalls(p *plan) {
	for _, e := range p.effects() {
		p.try(stalled, e.call, stalls(e.call), []string{p.needsProgram(), e.missing}, func(s *script) {
			s.fault("name: goes-on-in-use, call: %s, stall: true, times: 1", e.call)
			s.up([]claim{data}, web(nodeA, data))
			s.step(goesOn)
			s.down([]claim{data}, web(nodeA, data))
			s.fault("name: goes-on-when-gone, call: %s, stall: true, times: 1", e.call)
			s.life([]claim{data}, web(nodeA, data))
			s.step(goesOn)
		})
	}
}

// goesOn is the step that waits until a stalled call has continued.
const goesOn = "advance: 4m"

// stalls describes a trial of stalledCalls.
func stalls(call string) string {
	return fmt.Sprintf("The driver stalls in %s until the call is repeated, and continues while its pod runs; then again after everything is deleted.", call)
}

// abandonedCalls: the driver performs a call, and the caller never receives the answer. Then the
// result is no longer needed and has to be undone.
func abandonedCalls(p *plan) {
	for _, e := range p.effects() {
		if e.undoes() {
			continue
		}
		description := fmt.Sprintf("The answers of %s are lost until its user is deleted.", e.call)
		p.try("abandoned", e.call, description, []string{e.missing}, func(s *script) {
			s.fault("name: lost, call: %s, loseAnswer: true, code: DeadlineExceeded", e.call)
			if e.call == "CreateVolume" {
				s.apply(data)
				if s.facts.Topology() {
					s.apply(web(nodeA, data))
				}
			} else {
				s.claim(data)
				s.apply(web(nodeA, data))
			}
			s.step("wait: {call: %s, count: 2}", e.call)
			if e.call != "CreateVolume" || s.facts.Topology() {
				s.step("delete: {pod: web}")
			}
			if e.call == "CreateVolume" {
				s.step("delete: {pvc: data}")
			}
			s.step("advance: 1m")
			s.step("clear-fault: lost")
			if e.call != "CreateVolume" || s.facts.Topology() {
				s.step("wait: {pod: web, gone: true}")
			}
			s.detached()
			if e.call == "CreateVolume" {
				s.step("advance: 10m")
				return
			}
			s.unclaim(data)
		})
	}
}

// driverCrashes kills the driver before, during and after a call.
func driverCrashes(p *plan) {
	for _, e := range p.effects() {
		description := fmt.Sprintf("The driver is killed before, while and after it does %s.", e.call)
		life := func(kill func(*script)) func(*script) {
			return func(s *script) {
				if e.call == "DeleteVolume" { // the run then shows how a volume is deleted normally
					s.life([]claim{data}, web(nodeA, data))
				}
				kill(s)
				s.lifeWith(e)
			}
		}
		var kills []part
		for _, k := range killsOf(e.call, workKills) {
			kills = append(kills, part{k.title, k.description, life(k.compose)})
		}
		p.tryEach("crash-driver", e.call, description, []string{p.needsOurs(), e.missing}, kills, life(func(s *script) { s.killsDriver(e.call, workKills) }))
	}
	p.try("crash-driver", "block", "The driver is killed before, while and after it does each call on the node of the life of a raw block volume, and while it does the others.", []string{p.needsOurs(), p.needsKind(block, oneNodeRW)}, func(s *script) {
		for _, e := range p.effects() {
			switch {
			case e.missing != "":
			case e.onNode():
				s.killsDriver(e.call, workKills)
			default: // the sidecars die with it, and their backoff grows
				s.killsAtWork(e.call, 1)
			}
		}
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
}

// workKills is the number of times that the driver is killed during a call of a volume's life. Each
// kill is one file change later than the previous one. After more kills, the backoff of the sidecar
// would reach minutes.
const workKills = 3

// killsDriver kills the driver before a call, atWork times during the call, and after it.
func (s *script) killsDriver(call string, atWork int) {
	for _, kill := range killsOf(call, atWork) {
		kill.compose(s)
	}
}

// killsOf returns the faults of killsDriver, without the life of a volume.
func killsOf(call string, atWork int) (all []part) {
	all = append(all, part{"before", "The driver is killed before it does " + call + ".", func(s *script) {
		s.fault("name: receipt-%[1]s, call: %[1]s, kill: driver, at: receipt, restartAfter: 1s", call)
	}})
	for changes := 1; changes <= atWork; changes++ {
		all = append(all, part{fmt.Sprintf("work-%d", changes), fmt.Sprintf("The driver is killed while it does %s, after change %d of its files.", call, changes), func(s *script) {
			s.killsAtWork(call, changes)
		}})
	}
	return append(all, part{"after", "The driver is killed after it has done " + call + ".", func(s *script) {
		s.fault("name: answer-%[1]s, call: %[1]s, kill: driver, at: answer, restartAfter: 1s", call)
	}})
}

// killsAtWork kills the driver in a call after some of its changes to files.
func (s *script) killsAtWork(call string, changes int) {
	s.fault("name: work-%d-%s, call: %[2]s, kill: driver, at: work, afterChanges: %[1]d, restartAfter: 1s", changes, call)
}

// callerCrashes kills the caller of the driver during a call. Its next instance has no record of
// the call.
func callerCrashes(p *plan) {
	for _, e := range p.effects() {
		description := fmt.Sprintf("The caller of %s is killed before and after the driver executes it.", e.call)
		p.try("crash-caller", e.call, description, []string{e.missing}, func(s *script) {
			s.killsCaller(e.call)
			s.forgets(e)
			s.lifeWith(e)
		})
	}
}

// killsCaller kills the caller of a call, twice.
func (s *script) killsCaller(call string) {
	for _, at := range []string{"receipt", "answer"} {
		s.fault("name: %s, call: %s, kill: caller, at: %s, restartAfter: 3s", at, call, at)
	}
}

// forgets lets a trial accept leftover directories if a kubelet is killed during NodeUnstageVolume.
// The restarted kubelet finds volumes only in the directories of pods, and the pod has already been
// deleted.
func (s *script) forgets(e effect) {
	if e.call == "NodeUnstageVolume" {
		s.expect = fmt.Sprintf("  leftovers: [\"directory %s/plugins/kubernetes.io/csi/*\"]\n", s.facts.subject.KubeletDir.Layout().KubeletDir())
	}
}
