package scenario

import (
	"cmp"
	"fmt"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

func init() {
	register("upgrade", "Stops the kubelet of a node, or the control plane, and starts it in another version of Kubernetes or with other migrated in-tree plugins. Nodes are not drained.",
		`upgrade: {node: node-a, kubernetes: "1.24"}`, &upgradeStep{})
}

// upgradeStep upgrades a kubelet or the control plane.
type upgradeStep struct {
	Node         string    `json:"node,omitempty" example:"node-a" doc:"The node of the upgraded kubelet."`
	ControlPlane bool      `json:"controlPlane,omitempty" doc:"The API server, the controllers and the scheduler are upgraded; the sidecars of drivers are not."`
	Kubernetes   Version   `json:"kubernetes,omitempty" example:"1.24" doc:"The new version; default the current one."`
	Migration    Migration `json:"migration,omitempty" doc:"In-tree plugins by name, as in cluster.migration; the others do not change."`
}

func (s *upgradeStep) check(c *checker) {
	if (s.Node == "") != s.ControlPlane {
		c.report("", "a step without a component to upgrade", "node or controlPlane: true, one of them")
		return
	}
	if s.Kubernetes == 0 && len(s.Migration) == 0 {
		c.report("", "a step that changes nothing", `kubernetes: "1.24", or migration`)
	}
	c.checkMigration("migration", s.Migration)
	if s.ControlPlane {
		c.checkUpgradeOfControlPlane(version.Version(s.Kubernetes))
		return
	}
	c.node("node", s.Node)
	to := cmp.Or(version.Version(s.Kubernetes), c.versions.of(s.Node))
	c.checkSkew("kubernetes", to)
	c.versions.nodes[s.Node] = to
}

func (s *upgradeStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	u := sim.Upgrade{Kubernetes: version.Version(s.Kubernetes), Migration: migration.Plugins(s.Migration)}
	if s.ControlPlane {
		return cluster.UpgradeControlPlane(u)
	}
	return cluster.UpgradeKubelet(s.Node, u)
}

// versions are the versions of the cluster's components at the beginning of a step.
type versions struct {
	began, controlPlane version.Version
	// The versions of nodes that differ from the first version of the control plane.
	nodes map[string]version.Version
}

func (v *versions) of(node string) version.Version { return cmp.Or(v.nodes[node], v.began) }

// checkVersions checks the initial versions of the cluster.
func (c *checker) checkVersions() {
	began := cmp.Or(version.Version(c.scenario.Kubernetes), version.Newest)
	c.versions = versions{began: began, controlPlane: began, nodes: map[string]version.Version{}}
}

// checkSkew reports a kubelet that does not work with the present version of the control plane.
func (c *checker) checkSkew(field string, kubelet version.Version) {
	if err := version.CheckSkew(kubelet, c.versions.controlPlane); err != nil {
		c.report(field, fmt.Sprintf("version %s", kubelet), "a version that works with the control plane; "+err.Error())
	}
}

func (c *checker) checkUpgradeOfControlPlane(to version.Version) {
	v := &c.versions
	to = cmp.Or(to, v.controlPlane)
	if err := version.CheckUpgrade(v.controlPlane, to); err != nil {
		c.report("kubernetes", fmt.Sprintf("version %s", to), "the next version; "+err.Error())
	}
	v.controlPlane = to
	for _, node := range c.nodeNames() {
		if err := version.CheckSkew(v.of(node), to); err != nil {
			c.report("kubernetes", fmt.Sprintf("version %s", to), fmt.Sprintf("a version that works with the kubelet of %s; %v", node, err))
		}
	}
}

// upgradesControlPlane reports whether a step upgrades the control plane.
func (c *checker) upgradesControlPlane() bool {
	for _, step := range c.scenario.Steps {
		if s, ok := step.action.(*upgradeStep); ok && s.ControlPlane {
			return true
		}
	}
	return false
}
