package check

import "github.com/csisim/csisim/internal/driver/program"

// The names of the clusters in trials with two clusters.
const (
	west = "west"
	east = "east"
)

// trySites moves a replicated volume to another cluster, where the driver's site has the copy.
func (p *plan) trySites() {
	needs := []string{p.needsPromises(replicates), p.needsSites(), p.needsOnePlace(), p.effects()[0].missing}
	p.try(dayTwo, "sites-move", "A volume is primary in one cluster and cannot be in another one, before it moves there as planned.", needs, func(s *script) {
		s.replicatedTo()
		s.inCluster(east)
		s.apply(replicated{claim: "data", state: "primary"})
		s.inCluster("")
		s.step("advance: 1m")
		s.inCluster(west)
		s.end(web(nodeA, data))
		s.detached()
		s.wants("secondary")
		s.inCluster(east)
		s.isPrimary()
		s.run(web(nodeA, data))
		s.end(web(nodeA, data))
		s.detached()
	})
	p.try(dayTwo, "sites-disaster", "The cluster with the primary loses its power, and another one takes over by force; later the first one is back.", append(needs, p.needsOurs()), func(s *script) {
		s.replicatedTo()
		s.inCluster("")
		s.step("advance: 10m")
		s.step("power-off-cluster: west")
		s.inCluster(east)
		s.apply(replicated{claim: "data", state: "primary"})
		s.isPrimary()
		s.run(web(nodeA, data))
		s.inCluster("")
		s.step("power-on-cluster: west")
		s.inCluster(west)
		s.end(web(nodeA, data))
		s.detached()
		s.becomes("secondary", "volume is marked secondary")
		s.inCluster("")
		s.step("settle: {}")
	})
}

// replicatedTo runs a writing pod in the first cluster; the second cluster then has a copy.
func (s *script) replicatedTo() {
	s.addons = true
	s.clusters = []string{west, east}
	s.inCluster(west)
	s.replicationClasses()
	s.immediate = true
	s.claim(data)
	s.addonsLease()
	s.apply(replicated{claim: "data", state: "primary"})
	s.isPrimary()
	s.run(web(nodeA, data))
	s.inCluster(east)
	s.replicationClasses()
	s.apply(sameVolume{data.name, "west/pvc/data"})
	s.step("wait: {pvc: data, phase: Bound}")
}

// inCluster selects the cluster of the next steps; empty for steps on all clusters.
func (s *script) inCluster(name string) { s.in = name }

// needsSites returns the reason why trials with two clusters cannot be run; empty if they can. The
// driver's command must contain {{.Cluster}} to get a site in each.
func (p *plan) needsSites() string {
	d := p.facts.subject.Driver
	switch {
	case d.Mock != nil:
		return ""
	case d.Program == nil:
		return "only a driver that csisim starts from a command can be in two clusters"
	case !program.Asks("Cluster", d.Program.Env, d.Program.Command, d.Program.ControllerCommand):
		return "{{.Cluster}} is not in the driver's command: it has no sites"
	}
	return ""
}
