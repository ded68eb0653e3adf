package check

import (
	"fmt"
	"slices"
)

// needsSidecar returns the reason why operations of a sidecar are not tried.
func (p *plan) needsSidecar(has bool, capability, sidecar string) string {
	if !has {
		return "the controller service lacks " + capability
	}
	for _, name := range p.facts.sidecars() {
		if name == sidecar {
			return ""
		}
	}
	return "the simulated cluster has no " + sidecar
}

// growing expands volumes by raising the requests of their claims.
func growing(p *plan) {
	needs := []string{p.needsGrowth()}
	online := p.needsOnline()
	p.try("grow", "unused", "A volume grows while no pod uses it; calls come twice.", needs, func(s *script) {
		s.fault(`call: "*ExpandVolume", repeat: true`)
		s.claim(data)
		if s.facts.Topology() { // the volume is created only when a pod needs it
			first := pod{name: "first", node: nodeA, claims: []claim{data}}
			s.run(first)
			s.end(first)
			s.detached()
		}
		s.grow(data)
		s.run(web(nodeA, data))
		s.grown(data)
		s.down([]claim{data}, web(nodeA, data))
	})
	p.try("grow", "in-use", "A volume grows while a pod uses it; calls come twice.", append(needs, online), func(s *script) {
		s.fault(`call: "*ExpandVolume", repeat: true`)
		s.lifeWithGrowth()
	})
	p.try("grow", "lost-answers", "A volume grows, and the answers of both calls are lost, then late.", append(needs, online), func(s *script) {
		for _, call := range s.facts.expansions() {
			s.fault("name: lost-%s, call: %[1]s, loseAnswer: true, times: 1", call)
			s.fault("name: late-%s, call: %[1]s, lateAnswer: true, times: 1", call)
		}
		s.lifeWithGrowth()
	})
	p.try("grow", "twice", "A volume grows while a pod uses it, and once more.", append(needs, online), func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.grow(data)
		s.grown(data)
		s.growTo(data, s.facts.subject.grownAgain())
		s.grownTo(data, s.facts.subject.grownAgain())
		s.down([]claim{data}, web(nodeA, data))
	})
	p.try("grow", "block", "A raw block volume grows while a pod uses it; calls come twice.", append(needs, online, p.needsKind(block, oneNodeRW)), func(s *script) {
		s.fault(`call: "*ExpandVolume", repeat: true`)
		s.lifeWithGrowthOf(blockData)
	})
	for _, c := range []claim{data, blockData} {
		title, needs := "lowered", append(slices.Clone(needs), online, p.needsCapability("EXPAND_VOLUME"))
		if c.form == block {
			title, needs = "lowered-block", append(needs, p.needsKind(block, oneNodeRW))
		}
		p.try("grow", title, "A volume grows, but its caller gets an error, and then its claim asks for less.", needs, func(s *script) { s.lifeWithLessGrowth(c) })
	}
	for _, c := range []claim{data, blockData} {
		title, needs := "measured", append(slices.Clone(needs), online, p.needsStats())
		if c.form == block {
			title, needs = "measured-block", append(needs, p.needsKind(block, oneNodeRW))
		}
		p.try("grow", title, "A volume grows while a pod uses it, and the kubelet asks before and after how full it is.", needs, func(s *script) {
			s.up([]claim{c}, web(nodeA, c))
			s.step("advance: %s", untilMeasured)
			s.grow(c)
			s.grown(c)
			s.step("advance: %s", untilMeasured)
			s.down([]claim{c}, web(nodeA, c))
		})
	}
	for _, call := range []string{"ControllerExpandVolume", "NodeExpandVolume"} {
		offered := ""
		if !slices.Contains(p.facts.expansions(), call) {
			offered = "the driver lacks EXPAND_VOLUME for " + call
		}
		p.try("grow", "driver-killed-"+call, "The driver is killed before, while and after it does "+call+".", append([]string{p.needsOurs(), offered, online}, needs...), func(s *script) {
			s.killsDriver(call, 1)
			s.lifeWithGrowth()
		})
	}
	p.try("grow", "driver-killed-block", "The driver is killed before, while and after it makes a raw block volume grow.", append([]string{p.needsOurs(), online, p.needsKind(block, oneNodeRW)}, needs...), func(s *script) {
		for _, call := range s.facts.expansions() {
			s.killsDriver(call, workKills)
		}
		s.lifeWithGrowthOf(blockData)
	})
}

// untilMeasured is longer than the kubelet's interval between calls for statistics. K-STAT-1
const untilMeasured = "3m"

// expansions are the calls that expand a volume.
func (f *Facts) expansions() []string {
	var found []string
	if f.caps.Controller.Has("EXPAND_VOLUME") {
		found = append(found, "ControllerExpandVolume")
	}
	if f.caps.Node.Has("EXPAND_VOLUME") {
		found = append(found, "NodeExpandVolume")
	}
	return found
}

// needsGrowth returns the reason why volumes cannot be expanded, by the controller service or only
// by the node service; empty if they can. csi-resizer reads both capabilities from the controller
// plugin only. C-RES-2
func (p *plan) needsGrowth() string {
	return p.needsSidecar(len(p.facts.expansions()) > 0, "EXPAND_VOLUME, as does the node service", "csi-resizer")
}

// needsOnline returns the reason why a volume cannot be expanded while a pod uses it; empty if it
// can.
func (p *plan) needsOnline() string {
	if p.facts.caps.Plugin.Has("OFFLINE") && !p.facts.caps.Plugin.Has("ONLINE") {
		return "the plugin has OFFLINE expansion only"
	}
	return ""
}

// lifeWithGrowth is the life of a volume that is expanded while a pod uses it.
func (s *script) lifeWithGrowth() { s.lifeWithGrowthOf(data) }

func (s *script) lifeWithGrowthOf(c claim) {
	s.up([]claim{c}, web(nodeA, c))
	s.grow(c)
	s.moment()
	s.grown(c)
	s.moment()
	s.down([]claim{c}, web(nodeA, c))
}

// lifeWithLessGrowth expands a volume while the answers are errors, lets a pod use it, and lowers
// the request of the claim. csi-resizer then requests less than the volume's current size. C-RES-12
func (s *script) lifeWithLessGrowth(c claim) {
	larger, after := pod{name: "larger", node: nodeA, claims: []claim{c}}, pod{name: "after", node: nodeA, claims: []claim{c}}
	s.up([]claim{c}, web(nodeA, c))
	s.fault("name: refused, call: ControllerExpandVolume, loseAnswer: true, code: Internal")
	s.growTo(c, s.facts.subject.grownAgain())
	s.step("wait: {call: ControllerExpandVolume, code: Internal}")
	s.end(web(nodeA, c))
	s.detached()
	s.run(larger)
	s.grow(c)
	s.step("clear-fault: refused")
	s.grown(c)
	s.end(larger)
	s.detached()
	s.run(after)
	s.down([]claim{c}, after)
}

func (s *script) grow(c claim) { s.growTo(c, s.facts.subject.grown()) }

func (s *script) growTo(c claim, size string) {
	s.step("patch: {pvc: %s, merge: {spec: {resources: {requests: {storage: %s}}}}}", c.name, size)
}

// grown waits until the volume is expanded and the claim shows the new size.
func (s *script) grown(c claim) { s.grownTo(c, s.facts.subject.grown()) }

func (s *script) grownTo(c claim, size string) {
	s.step(`wait: {pv: pvc/%s, that: "quantity(object.spec.capacity.storage) >= quantity('%s')"}`, c.name, size)
	s.step(`wait: {pvc: %s, that: "quantity(object.status.capacity.storage) >= quantity('%s')"}`, c.name, size)
}

// snapshots creates volumes from snapshots of others.
func snapshots(p *plan) {
	needs := []string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")}
	for _, trial := range []struct {
		title, description string
		faults             []string
	}{
		{"restored", "A snapshot is taken and becomes a volume; calls come twice.", []string{`call: "*", repeat: true`}},
		{"lost-answers", "The answers of the calls about a snapshot are lost.", []string{
			"call: CreateSnapshot, loseAnswer: true, times: 1", "call: DeleteSnapshot, loseAnswer: true, times: 1",
		}},
	} {
		p.try("snapshot", trial.title, trial.description, needs, func(s *script) {
			for _, fault := range trial.faults {
				s.fault("%s", fault)
			}
			s.lifeWithSnapshot()
		})
	}
	copies(p)
}

// lifeWithSnapshot is the life of a volume, and of a second one that is restored from its snapshot.
func (s *script) lifeWithSnapshot() {
	restored := claim{name: "restored", form: filesystem, access: oneNodeRW, from: "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: daily}"}
	reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
	s.up([]claim{data}, web(nodeA, data))
	s.apply(snapshotClass{}, snapshot{"daily", data})
	s.moment()
	s.step(`wait: {volumesnapshot: daily, that: "object.status.readyToUse"}`)
	s.moment()
	s.up([]claim{restored}, reader)
	s.step("delete: {volumesnapshot: daily}")
	s.moment()
	s.step("wait: {volumesnapshot: daily, gone: true}")
	s.moment()
	s.down([]claim{data, restored}, web(nodeA, data), reader)
}

type snapshotClass struct{}

func (snapshotClass) manifest(f *Facts) string {
	return fmt.Sprintf(`apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshotClass
metadata: {name: %s}
driver: %s
deletionPolicy: Delete
%s`, className, f.Name, parameters("", f.subject.snapshotParameters()))
}

type snapshot struct {
	name string
	of   claim
}

func (s snapshot) manifest(*Facts) string {
	return fmt.Sprintf(`apiVersion: snapshot.storage.k8s.io/v1
kind: VolumeSnapshot
metadata: {name: %s}
spec:
  volumeSnapshotClassName: %s
  source: {persistentVolumeClaimName: %s}
`, s.name, className, s.of.name)
}
