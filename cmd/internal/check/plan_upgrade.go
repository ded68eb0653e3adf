package check

import (
	"fmt"
	"slices"
)

// way describes how one release replaces another one. Each way is a column of the report card.
type way struct {
	name, title, what string
	// rollback means that the new release runs first, and the old one replaces it.
	rollback bool
	// now selects the plugins that are replaced while a volume is in a state. later selects the
	// other plugins, which are replaced after the use of the volume. Default: none.
	now, later []plugins
}

// plugins selects plugins that are replaced together, by fields of a step.
type plugins string

const (
	allPlugins       plugins = ""
	controllerPlugin plugins = ", plugin: controller"
)

// rollback is the group of trials in which the old release replaces the new one.
const rollback = "rollback"

// pluginOf is the plugin of a node.
func pluginOf(node string) plugins { return plugins(", node: " + node) }

// ways are the ways of a pair of releases, in the order of the report card.
func ways() []way {
	nodes, controller := []plugins{pluginOf(nodeA), pluginOf(nodeB)}, []plugins{controllerPlugin}
	return []way{
		{name: "upgrade", title: "upgrade", now: []plugins{allPlugins}, what: "The new release replaces the old one"},
		{name: rollback, title: "rollback", rollback: true, now: []plugins{allPlugins}, what: "The old release replaces the new one"},
		{name: "node-first", title: "node first", now: nodes, later: controller, what: "The new release replaces the old node plugins, and the controller plugin later"},
		{name: "controller-first", title: "controller first", now: controller, later: nodes, what: "The new release replaces the old controller plugin, and the node plugins later"},
	}
}

// to returns the name that scenarios give to the release that replaces the first one.
func (w way) to() string {
	if w.rollback {
		return string(OldRelease)
	}
	return string(NewRelease)
}

// skewed reports whether plugins of both releases serve a volume.
func (w way) skewed() bool { return len(w.later) > 0 }

// lacks returns the reason why the replacing release lacks a feature of the first one. It applies
// only to rollbacks: an upgrade must not drop a feature that is in use.
func (u *Upgrade) lacks(w way, need func(*plan) string) string {
	if !w.rollback {
		return ""
	}
	if why := need(&plan{facts: u.Old}); why != "" {
		return "the old release does not offer it: " + why
	}
	return ""
}

// states replaces releases while a volume is in each of its possible states.
func (u *Upgrade) states(p *plan, w way) {
	for _, state := range volumeStates {
		needs := []string{p.needsOurs(), p.needsProgram()}
		if w.skewed() {
			needs = append(needs, p.needsNodes(), p.needsController())
		}
		for _, need := range state.needs {
			needs = append(needs, need(p), u.lacks(w, need))
		}
		if state.each == nil {
			p.try(w.name, state.title, w.what+" "+state.while+".", needs, func(s *script) { state.life(s, u.replaces(s, w)) })
			continue
		}
		for _, e := range p.effects() {
			description := fmt.Sprintf("%s while the caller of %s does not know its result.", w.what, e.call)
			p.try(w.name, state.title+"-"+e.call, description, append(slices.Clone(needs), e.missing), func(s *script) {
				state.each(e)(s, u.replaces(s, w))
			})
		}
	}
}

// replaces returns two functions: the first adds the steps of a way, and the second adds the steps
// after them.
func (u *Upgrade) replaces(s *script, w way) replacing {
	if w.skewed() {
		s.nodes = max(s.nodes, 2)
	}
	add := func(all []plugins) {
		for _, p := range all {
			s.replace(w, p)
		}
	}
	return replacing{
		now:  func() { add(w.now); s.step("advance: 1m") },
		rest: func() { add(w.later) },
	}
}

// replace replaces plugins, if the driver has them.
func (s *script) replace(w way, p plugins) {
	if p != controllerPlugin || !s.facts.subject.Driver.NoController {
		s.step("upgrade-driver: {to: %s%s}", w.to(), p)
	}
}

// replacing adds the steps by which one release replaces another: now adds the steps in the middle
// of a volume's life, and rest adds the remaining steps.
type replacing struct{ now, rest func() }

// atCall ends the names of groups with trials that replace a release at a call.
const atCall = "-at"

// mostUpgrades bounds the system calls of one CSI call before which a release is replaced, each in
// a separate trial.
const mostUpgrades = 4

// atCalls replaces a release at each call: the first one is killed there, and the other one starts.
// Each kill is in a separate trial, since the first release must run before it.
func (u *Upgrade) atCalls(p *plan, w way) {
	for _, e := range p.effects() {
		needs := []string{p.needsOurs(), p.needsProgram(), e.missing}
		for _, k := range replacedAt(w, e, chosen(p.facts.SystemCalls[e.call], mostUpgrades)) {
			p.try(w.name+atCall, e.call+"-"+k.title, w.what+", which "+k.description+".", needs, func(s *script) {
				if e.call == "DeleteVolume" { // the run then shows how a volume is deleted normally
					s.life([]claim{data}, web(nodeA, data))
				}
				k.compose(s)
				s.lifeWith(e)
			})
		}
	}
}

// atInlineCalls is atCalls for the calls about inline volumes.
func (u *Upgrade) atInlineCalls(p *plan, w way) {
	if !p.facts.Inline() {
		return
	}
	needs := []string{p.needsOurs(), p.needsProgram(), needsInline(p), u.lacks(w, needsInline)}
	for _, call := range inlineCalls {
		e := effect{call: call}
		for _, k := range replacedAt(w, e, chosen(p.facts.InlineCalls[call], mostUpgrades)) {
			p.try(w.name+atCall, inline+"-"+call+"-"+k.title, w.what+", which "+k.description+" for an inline volume.", needs, func(s *script) {
				k.compose(s)
				s.lifeInline(worker("web", tmp))
			})
		}
	}
}

// replacedAt are the kills of a release at a call; the other release starts after each of them.
func replacedAt(w way, e effect, points []point) (all []part) {
	add := func(title, description, at string) {
		all = append(all, part{title, description, func(s *script) {
			s.unmounts = s.unmounts || len(points) > 0
			s.fault("call: %s, kill: driver, %s, restartAfter: 1s, restartAs: %s", e.call, at, w.to())
		}})
	}
	add("before", "is killed before it does "+e.call, "at: receipt")
	for i, at := range points {
		add(fmt.Sprintf("work-%d", i+1), fmt.Sprintf("is killed in %s before %s", e.call, at.words()), fmt.Sprintf("before: {%v}", at))
	}
	add("after", "is killed after it has done "+e.call, "at: answer")
	return all
}

// rolling updates the driver of three nodes, one after the other, while pods are created, moved and
// deleted.
func (u *Upgrade) rolling(p *plan, w way) {
	needs := []string{p.needsOurs(), p.needsProgram(), p.needsNodes(), p.needsOnePlace()}
	p.try(w.name, "rolling", w.what+" on three nodes, one after the other, while pods come, move and go.", needs, func(s *script) {
		s.nodes = 3
		other := claim{name: "other", form: filesystem, access: oneNodeRW}
		stays, moves := web(nodeA, data), pod{name: "moves", node: nodeB, claims: []claim{other}}
		moved, back := pod{name: "moved", node: nodeC, claims: []claim{other}}, pod{name: "back", node: nodeA, claims: []claim{other}}
		s.up([]claim{data, other}, stays, moves)
		s.replace(w, pluginOf(nodeA))
		s.running(stays, moves)
		s.end(moves)
		s.run(moved)
		s.replace(w, pluginOf(nodeB))
		s.end(moved)
		s.run(back)
		s.replace(w, pluginOf(nodeC))
		s.replace(w, controllerPlugin)
		s.step("advance: 1m")
		s.running(stays, back)
		s.down([]claim{data, other}, stays, back)
	})
}
