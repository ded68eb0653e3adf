package check

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
)

// The claims and pods of most scenarios.
var (
	data      = claim{name: "data", form: filesystem, access: oneNodeRW}
	blockData = claim{name: "data", form: block, access: oneNodeRW}
)

func web(node string, claims ...claim) pod { return pod{name: "web", node: node, claims: claims} }

// The nodes of the scenarios.
const (
	nodeA = "node-a"
	nodeB = "node-b"
	nodeC = "node-c"
)

// lives creates, uses and deletes volumes without faults.
func lives(p *plan) {
	p.try("life", "filesystem", "A file system is made, used by a pod, and deleted.", nil, func(s *script) {
		s.life([]claim{data}, web(nodeA, data))
	})
	p.try("life", "block", "A raw block volume is made, used by a pod, and deleted.", []string{p.needsMaking(block, oneNodeRW)}, func(s *script) {
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
	if p.facts.NotPublished != "" {
		p.trials[len(p.trials)-1].Known = "CreateVolume should refuse a raw block volume, which no node publishes"
	}
	if !p.facts.OnePlace() {
		p.try("life", "second-node", "A volume is made for a pod on the second node, in the second of the possible places.", []string{p.needsNodes()}, func(s *script) {
			s.life([]claim{data}, web(nodeB, data))
		})
	}
	p.try("life", "read-only", "A pod writes to a volume, a second one has it read-only.", nil, func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.end(web(nodeA, data))
		s.detached()
		reader := pod{name: "reader", node: nodeA, claims: []claim{data}, readOnly: true}
		s.run(reader)
		s.down([]claim{data}, reader)
	})
	p.try("life", "read-only-first", "A pod writes to a volume; another one is had read-only at first, then a pod writes to that, and a third one finds it.", []string{p.fits(2)}, func(s *script) {
		logs := claim{name: "logs", form: filesystem, access: oneNodeRW}
		other := pod{name: "other", node: nodeA, claims: []claim{logs}}
		s.up([]claim{logs}, other)
		reader := pod{name: "reader", node: nodeA, claims: []claim{data}, readOnly: true}
		after := pod{name: "after", node: nodeA, claims: []claim{data}}
		s.up([]claim{data}, reader)
		s.end(reader)
		s.run(web(nodeA, data))
		s.end(web(nodeA, data))
		s.run(reader, after)
		s.down([]claim{data, logs}, reader, after, other)
	})
	p.try("life", "mount-options", "The mount options of the StorageClass are those of the mount that a pod uses.", []string{p.needsProgram(), p.needsMountOption()}, func(s *script) {
		s.facts = s.facts.withMountOptions()
		s.life([]claim{data}, web(nodeA, data))
	})
	p.try("life", "mount-group", "A pod has an fsGroup, and the driver gives its volume to that group.", []string{p.needsProgram(), p.needsMountGroup()}, func(s *script) {
		owned := web(nodeA, data)
		owned.group = 2000
		s.life([]claim{data}, owned)
	})
	p.try("life", "listed", "While a pod runs, csi-attacher lists the volumes and their nodes.", []string{p.needsListedNodes()}, func(s *script) {
		claims := []claim{data}
		if first(p.needsKind(block, oneNodeRW), p.fits(2)) == "" {
			claims = append(claims, claim{name: "raw", form: block, access: oneNodeRW})
		}
		s.up(claims, web(nodeA, claims...))
		s.step("advance: %s", untilListed)
		s.running(web(nodeA, claims...))
		s.down(claims, web(nodeA, claims...))
	})
	p.try("life", "secrets", "A volume comes with Secrets, and the driver keeps them to itself; one that does not want any may refuse it.", []string{p.needsProgram(), p.needsNoSecrets()}, func(s *script) {
		s.facts = s.facts.withSecrets()
		s.apply(data, web(nodeA, data))
		s.step("advance: 2m")
		s.end(web(nodeA, data))
		s.detached()
		s.unclaim(data)
	})
	for _, c := range []claim{data, blockData} {
		title, needs := "measured", []string{p.needsStats()}
		if c.form == block {
			title, needs = "measured-block", append(needs, p.needsKind(block, oneNodeRW))
		}
		p.try("life", title, "While a pod runs, the kubelet asks how full its volume is.", needs, func(s *script) {
			if c.form == filesystem {
				s.fault("call: NodeGetVolumeStats, fill: true, times: 1")
			}
			s.up([]claim{c}, web(nodeA, c))
			s.step("wait: {call: NodeGetVolumeStats, code: OK, for: 10m}")
			s.step("advance: 1s") // the call is made again
			s.down([]claim{c}, web(nodeA, c))
		})
	}
	p.try("life", "again-and-again", "A volume is made, used by a pod, and deleted, ten times; then the program of the driver holds no more than at first.", []string{p.needsProgram()}, func(s *script) {
		for range manyLives {
			s.life([]claim{data}, web(nodeA, data))
		}
	})
	p.try("life", "used-again", "Three pods use a volume, one after the other.", nil, func(s *script) {
		s.claim(data)
		for i := range 3 {
			user := pod{name: fmt.Sprintf("web-%d", i), node: nodeA, claims: []claim{data}}
			s.run(user)
			s.end(user)
			s.detached()
		}
		s.unclaim(data)
	})
}

// manyLives is the number of volume lives after which growth of a program's resources is visible.
const manyLives = 10

// untilListed is longer than the interval at which the external-attacher lists volumes.
const untilListed = "2m"

// needsListedNodes returns the reason why the driver does not list the nodes of its volumes; empty
// if it does.
func (p *plan) needsListedNodes() string {
	for _, capability := range []string{"PUBLISH_UNPUBLISH_VOLUME", "LIST_VOLUMES", "LIST_VOLUMES_PUBLISHED_NODES"} {
		if !p.facts.caps.Controller.Has(capability) {
			return "the controller service lacks " + capability
		}
	}
	return ""
}

// needsStats returns the reason why the driver does not measure the usage of volumes; empty if it
// does.
func (p *plan) needsStats() string {
	if p.facts.caps.Node.Has("GET_VOLUME_STATS") {
		return ""
	}
	return "the node service lacks GET_VOLUME_STATS"
}

// needsNoSecrets is for trials without Secrets. For a driver with Secrets, each scenario already
// tests whether the driver keeps them secret.
func (p *plan) needsNoSecrets() string {
	switch {
	case len(p.facts.subject.Secrets) > 0:
		return "the driver has Secrets of its own, which all scenarios look for"
	case !p.facts.Provisions():
		return "the controller service lacks CREATE_DELETE_VOLUME"
	}
	return ""
}

// withSecrets returns the facts of a driver that gets a Secret in each call of a volume's life.
func (f *Facts) withSecrets() *Facts {
	with := *f
	with.subject.Secrets = profile.Secrets{}
	for _, kind := range []string{"provisioner", "controller-publish", "node-stage", "node-publish", "node-expand", "controller-expand"} {
		with.subject.Secrets[kind] = map[string]string{"key": "made-up-by-csisim-4fb81d7a-" + kind}
	}
	return &with
}

// needsMountOption is for trials with a mount option. The CSI spec permits a driver to refuse it.
func (p *plan) needsMountOption() string {
	if p.facts.MountOptionRefused == "" {
		return ""
	}
	return "no volume with the mount options " + strings.Join(mountOptions, ",") + ": " + p.facts.MountOptionRefused
}

// accessModes uses volumes in one pod, on one node and on many nodes.
func accessModes(p *plan) {
	p.try("access", onePodRW, "A volume for a single pod.", []string{p.needsKind(filesystem, onePodRW)}, func(s *script) {
		c := claim{name: "data", form: filesystem, access: onePodRW}
		s.life([]claim{c}, web(nodeA, c))
	})
	for _, k := range []Kind{{filesystem, manyRW}, {filesystem, manyRO}, {block, manyRW}} {
		title := k.Access
		if k.Form == block {
			title += "-block"
		}
		p.try("access", title, "Pods on two nodes use a volume at the same time.", []string{p.needsKind(k.Form, k.Access), p.needsNodes(), p.needsOnePlace()}, func(s *script) {
			c := claim{name: "data", form: k.Form, access: k.Access}
			a := pod{name: "web-a", node: nodeA, claims: []claim{c}}
			b := pod{name: "web-b", node: nodeB, claims: []claim{c}}
			s.up([]claim{c}, a, b)
			s.end(a)
			if p.needsListedNodes() == "" {
				s.step("advance: %s", untilListed)
			}
			s.running(b)
			s.down([]claim{c}, b)
		})
	}
}

// manyVolumes is the number of volumes that are created at once.
const manyVolumes = 10

// sharing uses several pods and volumes on a node.
func sharing(p *plan) {
	p.try("share", "two-pods-one-node", "Two pods of a node use a volume, and do not end together.", nil, func(s *script) {
		a := pod{name: "web-a", node: nodeA, claims: []claim{data}}
		b := pod{name: "web-b", node: nodeA, claims: []claim{data}}
		s.up([]claim{data}, a, b)
		s.step("delete: {pod: web-a}")
		s.step("wait: {pod: web-a, gone: true}")
		s.running(b)
		s.down([]claim{data}, b)
	})
	p.try("share", "read-only-beside", "A pod has a volume read-only beside one that writes, and a third one writes after it.", nil, func(s *script) {
		reader := pod{name: "reader", node: nodeA, claims: []claim{data}, readOnly: true}
		again := pod{name: "again", node: nodeA, claims: []claim{data}}
		s.up([]claim{data}, web(nodeA, data))
		s.run(reader)
		s.run(again)
		s.down([]claim{data}, web(nodeA, data), reader, again)
	})
	p.try("share", "two-volumes-one-pod", "A pod uses two volumes.", nil, func(s *script) {
		logs := claim{name: "logs", form: filesystem, access: oneNodeRW}
		s.life([]claim{data, logs}, web(nodeA, data, logs))
	})
	p.try("share", "subpath", "A pod sees a directory of its volume only, and another pod comes and goes.", []string{p.fits(2)}, func(s *script) {
		logs := claim{name: "logs", form: filesystem, access: oneNodeRW}
		other := pod{name: "other", node: nodeA, claims: []claim{logs}}
		part := pod{name: "web", node: nodeA, claims: []claim{data}, subPath: "part"}
		s.up([]claim{data}, part)
		s.up([]claim{logs}, other)
		s.end(other)
		s.running(part)
		s.down([]claim{data, logs}, part)
	})
	blocks := []claim{blockData, {name: "logs", form: block, access: oneNodeRW}}
	p.try("share", "blocks-in-turns", "A raw block volume is used, then another one beside it, which may get the device that the first one had.", []string{p.needsKind(block, oneNodeRW), p.fits(2)}, func(s *script) {
		other, again := pod{name: "other", node: nodeA, claims: blocks[1:]}, pod{name: "again", node: nodeA, claims: blocks[:1]}
		s.up(blocks[:1], web(nodeA, blocks[0]))
		s.end(web(nodeA, blocks[0]))
		s.detached()
		s.up(blocks[1:], other)
		s.run(again)
		s.down(blocks, other, again)
	})
	p.try("share", "up-to-the-limit", "A node has as many volumes as NodeGetInfo allows.", []string{p.isLimited()}, func(s *script) {
		var claims []claim
		var pods []pod
		for i := range p.facts.MaxVolumes {
			c := claim{name: fmt.Sprintf("data-%d", i), form: filesystem, access: oneNodeRW}
			claims = append(claims, c)
			pods = append(pods, pod{name: fmt.Sprintf("web-%d", i), node: nodeA, claims: []claim{c}})
		}
		s.life(claims, pods...)
	})
	p.try("share", "many-volumes", "Many pods with a volume each come and go at once.", []string{p.fits(manyVolumes)}, func(s *script) {
		var claims []claim
		var pods []pod
		for i := range manyVolumes {
			c := claim{name: fmt.Sprintf("data-%d", i), form: filesystem, access: oneNodeRW}
			claims = append(claims, c)
			pods = append(pods, pod{name: fmt.Sprintf("web-%d", i), node: nodeA, claims: []claim{c}})
		}
		s.life(claims, pods...)
	})
}

// mostLimited is the highest limit that a trial fills, because each volume takes some time.
const mostLimited = 40

// isLimited returns the reason why a node cannot be filled; empty if it can.
func (p *plan) isLimited() string {
	switch limit := p.facts.MaxVolumes; {
	case limit <= 0:
		return "NodeGetInfo names no limit"
	case limit > mostLimited:
		return fmt.Sprintf("NodeGetInfo allows a node %d volumes, more than the %d that are tried", limit, mostLimited)
	}
	return p.fits(1)
}

// fits returns the reason why a node cannot have this number of volumes; empty if it can.
func (p *plan) fits(volumes int64) string {
	switch limit := p.facts.MaxVolumes; {
	case limit > 0 && limit < volumes:
		return fmt.Sprintf("NodeGetInfo allows a node %d volumes", limit)
	case p.facts.subject.Handle != "":
		return "there is one volume handle"
	}
	return ""
}

// needsMountGroup returns the reason why the driver does not set the group of volumes itself; empty
// if it does.
func (p *plan) needsMountGroup() string {
	if !p.facts.caps.Node.Has("VOLUME_MOUNT_GROUP") {
		return "the node service lacks VOLUME_MOUNT_GROUP"
	}
	return ""
}
