package check

import (
	"cmp"
	"fmt"
)

const driverController = "driver-controller"

// remembers forbids errors on nodes after a restart of the controller plugin. Kubernetes repairs
// attachments that some drivers have forgotten, so a pod may run despite this defect.
const remembers = `  forbidden:
  - {call: "Node*", code: FailedPrecondition}
  - {call: "Node*", code: NotFound}
`

// victim is a component of the cluster that can be restarted.
type victim struct {
	title, description string
	needs              string
	steps              []string
	// life is a volume's life in which the restarted component has work to do. Default: lifeTwice.
	life func(*script)
}

func (p *plan) victims() []victim {
	controllerPlugin := p.needsController()
	if p.facts.subject.oneNode() && controllerPlugin == "" {
		controllerPlugin = "the controller plugin and the node plugin are one program"
	}
	victims := []victim{
		{title: "driver-on-node", description: "The node plugin", needs: p.needsOurs(), steps: []string{"kill-driver: {node: node-a}", "start-driver: {node: node-a}"}},
		{title: "driver-updated", description: "The node plugin, which is stopped as for an update,", needs: p.needsOurs(), steps: []string{"restart-driver: {node: node-a}"}},
		{title: driverController, description: "The controller plugin", needs: first(p.needsOurs(), controllerPlugin), steps: []string{"kill-driver: {controller: true}", "start-driver: {controller: true}"}},
		{title: "registrar", description: "The registrar of the node plugin", steps: []string{"stop-registrar: {node: node-a}", "start-registrar: {node: node-a}"}},
		{title: "kubelet", description: "The kubelet", steps: []string{"restart-kubelet: node-a"}},
		{title: "kube-controller-manager", description: "The controller manager", steps: []string{"restart-controller: kube-controller-manager"}},
	}
	for _, sidecar := range p.facts.sidecars() {
		restart := "restart-controller: " + sidecar + "/" + p.facts.Name
		v := victim{title: sidecar, description: "The sidecar " + sidecar, steps: []string{restart}}
		switch sidecar {
		case "csi-resizer":
			v.needs = first(p.needsSidecar(p.facts.Expands(), "EXPAND_VOLUME", sidecar), p.needsOnline())
			v.life = (*script).lifeWithGrowth
		case "csi-snapshotter":
			v.life = (*script).lifeWithSnapshot
		}
		victims = append(victims, v)
	}
	return victims
}

// first returns the first text that is not empty.
func first(texts ...string) string { return cmp.Or(texts...) }

// restarts kills and restarts a component of the cluster after every step of a volume's life.
func restarts(p *plan) {
	var all []string
	for _, v := range p.victims() {
		description := v.description + " is restarted after every step of a volume's life."
		p.try("restart", v.title, description, []string{v.needs}, func(s *script) {
			s.every = v.steps
			if v.life != nil {
				v.life(s)
			} else {
				s.lifeTwice()
			}
			if v.title == driverController {
				s.expect = remembers
			}
		})
		if v.needs == "" {
			all = append(all, v.steps...)
		}
	}
	p.try("restart", "everything", "Everything is restarted after every step of a volume's life.", nil, func(s *script) {
		s.every = all
		s.lifeTwice()
	})
	p.try("restart", "while-running", "Everything is restarted once while a pod runs; then a second one shares a volume with it.", nil, func(s *script) {
		other := claim{name: "other", form: filesystem, access: oneNodeRW}
		second := pod{name: "second", node: nodeA, claims: []claim{data}}
		s.up([]claim{data, other}, web(nodeA, data, other))
		for _, step := range all {
			s.step("%s", step)
		}
		s.step("advance: 1m")
		s.run(second)
		s.down([]claim{data, other}, web(nodeA, data, other), second)
	})
	p.try("restart", "block", "Everything is restarted after every step of a raw block volume's life.", []string{p.needsKind(block, oneNodeRW)}, func(s *script) {
		s.every = all
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
}

// lifeTwice uses two volumes and two pods, to show whether a restarted driver confuses them.
func (s *script) lifeTwice() {
	other := claim{name: "other", form: filesystem, access: oneNodeRW}
	second := pod{name: "second", node: nodeA, claims: []claim{data}}
	s.up([]claim{data, other}, web(nodeA, data, other))
	s.run(second)
	s.down([]claim{data, other}, web(nodeA, data, other), second)
}

// reboots turns off a node's power, which removes all its mounts.
func reboots(p *plan) {
	needs := []string{p.needsOurs()}
	p.try("reboot", "running", "The node loses power while a pod uses a volume.", needs, func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.down([]claim{data}, s.reboot(data)...)
	})
	p.try("reboot", "after-restarts", "Everything was restarted before the node loses power.", needs, func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		for _, v := range p.victims() {
			if v.needs == "" {
				for _, step := range v.steps {
					s.step("%s", step)
				}
			}
		}
		s.step("advance: 1m")
		s.down([]claim{data}, s.reboot(data)...)
	})
	p.try("reboot", "block", "The node loses power while a pod uses a raw block volume.", append(needs, p.needsKind(block, oneNodeRW)), func(s *script) {
		s.up([]claim{blockData}, web(nodeA, blockData))
		s.down([]claim{blockData}, s.reboot(blockData)...)
	})
	blocks := []claim{blockData, {name: "logs", form: block, access: oneNodeRW}}
	p.try("reboot", "blocks-in-another-order", "Two raw block volumes are attached in the other order after the node loses power, so that their devices change.", append(needs, p.needsKind(block, oneNodeRW), p.fits(2)), func(s *script) {
		other, again := pod{name: "other", node: nodeA, claims: blocks[1:]}, pod{name: "again", node: nodeA, claims: blocks[:1]}
		s.up(blocks[:1], web(nodeA, blocks[0]))
		s.up(blocks[1:], other)
		s.step("power-off: node-a")
		s.step("advance: 1m")
		s.step("delete: {pod: web, force: true}")
		s.step("power-on: node-a")
		s.step("advance: 2m")
		s.running(other)
		s.run(again)
		s.down(blocks, other, again)
	})
	for _, e := range p.effects() {
		if !e.onNode() {
			continue
		}
		description := fmt.Sprintf("The node loses power before, and then after, the driver does %s.", e.call)
		p.try("reboot", e.call, description, append(needs, e.missing), func(s *script) {
			s.losesPower(e.call)
			s.forgets(e)
			s.lifeWith(e)
		})
	}
}

// losesPower turns the node's power off before and after a call.
func (s *script) losesPower(call string) {
	s.fault("name: before, call: %s, kill: node, at: receipt, restartAfter: 1m", call)
	s.fault("name: after, call: %s, kill: node, at: answer, restartAfter: 1m", call)
}

// reboot turns the node's power off and on; another pod then finds the content of the first one.
func (s *script) reboot(claims ...claim) (pods []pod) {
	after := pod{name: "after", node: nodeA, claims: claims}
	s.step("power-off: node-a")
	s.step("advance: 2m")
	s.step("power-on: node-a")
	s.run(after)
	return []pod{web(nodeA, claims...), after}
}

// moves uses a volume on one node and then on another.
func moves(p *plan) {
	needs := []string{p.needsNodes(), p.needsOnePlace()}
	there := pod{name: "there", node: nodeB, claims: []claim{data}}
	p.try("move", "there-and-back", "A volume is used on one node, on another, and on the first again.", needs, func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.end(web(nodeA, data))
		s.run(there)
		s.end(there)
		s.run(web(nodeA, data))
		s.down([]claim{data}, web(nodeA, data))
	})
	p.try("move", "from-a-dead-node", "The node loses power, and the volume is moved after six minutes; then it boots again.", append(needs, p.needsOurs()), func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.step("power-off: node-a")
		s.step("advance: 1m")
		s.step("delete: {pod: web, force: true}")
		s.run(there)
		s.step("power-on: node-a")
		s.step("advance: 5m")
		s.down([]claim{data}, there)
	})
}
