package check

import (
	"fmt"
	"maps"
	"slices"
)

// inline is the group of volumes that are defined in the specs of pods.
const inline = "inline"

// scratch is an inline volume. By default it has the attributes of the subject.
type scratch struct {
	name       string
	attributes map[string]string
}

var tmp = scratch{name: "tmp"}

// attributesOf are the volume attributes of an inline volume.
func (f *Facts) attributesOf(s scratch) map[string]string {
	if s.attributes != nil {
		return s.attributes
	}
	return f.subject.Attributes
}

// worker is a pod with inline volumes on the first node.
func worker(name string, volumes ...scratch) pod {
	return pod{name: name, node: nodeA, scratch: volumes}
}

// inlineCalls are the calls of an inline volume's life that change something. K-TRACE-6
var inlineCalls = []string{"NodePublishVolume", "NodeUnpublishVolume"}

// inlineVolumes uses volumes that exist as long as their pods. Whether Kubernetes allows them is
// defined by the CSIDriver object. K-PUB-7
func inlineVolumes(p *plan) {
	if !p.facts.Inline() {
		return
	}
	inlineLives(p)
	inlineAttributes(p)
	inlineCallTrials(p)
	inlineRestarts(p)
	inlineReboots(p)
}

// tryInline composes a trial with inline volumes.
func (p *plan) tryInline(title, description string, needs []string, compose func(*script)) {
	if p.facts.InlineRefused != "" {
		needs = []string{"inline volumes are refused, as inline/life shows: " + p.facts.InlineRefused}
	}
	p.try(inline, title, description, needs, compose)
}

func inlineLives(p *plan) {
	p.try(inline, "life", "A pod has a volume in its own spec, and ends.", nil, func(s *script) {
		s.lifeInline(worker("web", tmp))
	})
	if p.facts.InlineRefused != "" {
		p.trials[len(p.trials)-1].Known = "NodePublishVolume refuses inline volumes, which the CSIDriver object offers"
	}
	p.tryInline("read-only", "A pod has a read-only volume in its own spec.", nil, func(s *script) {
		reader := worker("web", tmp)
		reader.readOnly = true
		s.lifeInline(reader)
	})
	p.tryInline("used-again", "Three pods of one name come and go; each has a new volume.", nil, func(s *script) {
		for range 3 {
			s.lifeInline(worker("web", tmp))
		}
	})
	p.tryInline("two-pods", "Two pods of a node have a volume each, and do not end together.", nil, func(s *script) {
		a, b := worker("web-a", tmp), worker("web-b", tmp)
		s.upInline(a, b)
		s.end(a)
		s.running(b)
		s.end(b)
	})
	p.tryInline("two-volumes", "A pod has two volumes in its own spec.", nil, func(s *script) {
		s.lifeInline(worker("web", tmp, scratch{name: "cache"}))
	})
	p.tryInline("many", "Many pods with a volume each come and go at once.", nil, func(s *script) {
		var pods []pod
		for i := range manyVolumes {
			pods = append(pods, worker(fmt.Sprintf("web-%d", i), tmp))
		}
		s.lifeInline(pods...)
	})
	if !p.facts.Persistent() {
		return
	}
	p.tryInline("beside-a-claim", "A pod has a volume in its own spec, and another one by a claim.", nil, func(s *script) {
		both := worker("web", tmp)
		both.claims = []claim{data}
		s.life([]claim{data}, both)
	})
}

// inlineAttributes starts pods with wrong attributes. The driver may accept or reject them. It must
// not leave anything behind, and the volume of the next pod has to work.
func inlineAttributes(p *plan) {
	then := func(s *script, wrong scratch) {
		user := worker("wrong", wrong)
		s.apply(user)
		s.step("advance: 1m")
		s.end(user)
		s.lifeInline(worker("web", tmp))
	}
	p.tryInline("wrong-attributes", "A pod's volume has attributes that mean nothing to the driver.", nil, func(s *script) {
		then(s, scratch{name: "tmp", attributes: p.wrongAttributes()})
	})
	if len(p.facts.subject.Attributes) > 0 {
		p.tryInline("no-attributes", "A pod's volume lacks the attributes.", nil, func(s *script) {
			then(s, scratch{name: "tmp", attributes: map[string]string{}})
		})
	}
}

// wrongAttributes are the attributes of the subject with meaningless values, and an unknown
// attribute.
func (p *plan) wrongAttributes() map[string]string {
	wrong := map[string]string{"csisim.dev/no-such-attribute": "wrong"}
	for _, key := range slices.Sorted(maps.Keys(p.facts.subject.Attributes)) {
		wrong[key] = "csisim wrong value"
	}
	return wrong
}

func inlineCallTrials(p *plan) {
	p.tryInline("repeated", "Every call that changes something comes twice.", nil, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.lifeInline(worker("web", tmp))
	})
	for _, call := range inlineCalls {
		p.tryInline("lost-"+call, fmt.Sprintf("The answer of %s is lost twice, then it comes too late.", call), nil, func(s *script) {
			s.losesAnswers(call)
			s.lifeInline(worker("web", tmp))
		})
	}
	p.tryInline("abandoned", "The answers of NodePublishVolume are lost until the pod is deleted.", nil, func(s *script) {
		s.fault("name: lost, call: NodePublishVolume, loseAnswer: true, code: DeadlineExceeded")
		s.apply(worker("web", tmp))
		s.step("wait: {call: NodePublishVolume, count: 2}")
		s.step("delete: {pod: web}")
		s.step("advance: 1m")
		s.step("clear-fault: lost")
		s.step("wait: {pod: web, gone: true}")
	})
	for _, call := range inlineCalls {
		p.tryInline("overlap-"+call, call+" comes twice at once.", nil, func(s *script) {
			s.fault("call: %s, overlap: true, times: 1", call)
			s.lifeInline(worker("web", tmp))
		})
		p.tryInline(stalled+"-"+call, stalls(call), []string{p.needsProgram()}, func(s *script) {
			s.fault("name: goes-on-in-use, call: %s, stall: true, times: 1", call)
			s.upInline(worker("web", tmp))
			s.step(goesOn)
			s.end(worker("web", tmp))
			s.fault("name: goes-on-when-gone, call: %s, stall: true, times: 1", call)
			s.lifeInline(worker("web", tmp))
			s.step(goesOn)
		})
		p.tryInline("driver-killed-"+call, fmt.Sprintf("The driver is killed before, while and after it does %s.", call), []string{p.needsOurs()}, func(s *script) {
			s.killsDriver(call, 1)
			s.lifeInline(worker("web", tmp))
		})
		p.tryInline("kubelet-killed-"+call, fmt.Sprintf("The kubelet is killed before and after the driver does %s.", call), nil, func(s *script) {
			s.killsCaller(call)
			s.lifeInline(worker("web", tmp))
		})
	}
}

// inlineRestarts restarts a component of the cluster after every step of a pod's life.
func inlineRestarts(p *plan) {
	var all []string
	for _, v := range p.victims() {
		if v.title != "driver-on-node" && v.title != "registrar" && v.title != "kubelet" {
			continue
		}
		p.tryInline("restart-"+v.title, v.description+" is restarted after every step of a pod's life.", []string{v.needs}, func(s *script) {
			s.every = v.steps
			s.lifeInline(worker("web", tmp))
		})
		if v.needs == "" {
			all = append(all, v.steps...)
		}
	}
	p.tryInline("restart-everything", "Driver, registrar and kubelet are restarted while a pod runs; another one comes.", nil, func(s *script) {
		a, b := worker("web-a", tmp), worker("web-b", tmp)
		s.upInline(a)
		for _, step := range all {
			s.step("%s", step)
		}
		s.step("advance: 1m")
		s.upInline(b)
		s.end(a, b)
	})
}

// inlineReboots turns off the node's power, which removes all its mounts.
func inlineReboots(p *plan) {
	p.tryInline("reboot", "The node loses power while a pod has a volume in its own spec.", []string{p.needsOurs()}, func(s *script) {
		before, after := worker("web", tmp), worker("after", tmp)
		s.upInline(before)
		s.step("power-off: node-a")
		s.step("advance: 2m")
		s.step("power-on: node-a")
		s.upInline(after)
		s.end(before, after)
	})
	for _, call := range inlineCalls {
		p.tryInline("reboot-"+call, fmt.Sprintf("The node loses power before, and then after, the driver does %s.", call), []string{p.needsOurs()}, func(s *script) {
			s.losesPower(call)
			s.lifeInline(worker("web", tmp))
		})
	}
}

// lifeInline is the life of pods with inline volumes.
func (s *script) lifeInline(pods ...pod) {
	s.upInline(pods...)
	s.end(pods...)
}

// upInline starts pods and waits until they run.
func (s *script) upInline(pods ...pod) {
	s.apply(asManifests(pods)...)
	s.moment()
	s.running(pods...)
	s.moment()
}
