package scenario

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

func init() {
	register("upgrade-driver", "Replaces the pods of a driver's plugins by pods of another release, like an update of its workloads: the objects of the release are applied, a pod ends with SIGTERM, and the next one has a fresh container and the sidecars of the release. Directories of the node stay. A CSIDriver object or a class that the API refuses to change is deleted and created. An old pod ends before the next one starts: a surge is not simulated.",
		`upgrade-driver: {to: v2, plugin: node, maxUnavailable: 50%, restartAfter: 5s}`, &upgradeDriverStep{})
}

// The plugins that are updated together, and the strategies of their workloads.
const (
	nodePlugins       = "node"
	controllerPlugins = "controller"
	allPlugins        = "all"

	rolling  = "rolling"
	onDelete = "onDelete"
	recreate = "recreate"
)

// upgradeDriverStep is an update of a driver, or a rollback.
type upgradeDriverStep struct {
	Driver         string              `json:"driver,omitempty" doc:"The driver; default the only one."`
	To             string              `json:"to" want:"required" example:"v2" doc:"The release: one of the driver's versions or, as a rollback, the one that was installed first, which is called program unless the driver has a version."`
	Plugin         string              `json:"plugin,omitempty" enum:"node|controller|all" doc:"The plugins that are updated; default all, or node if a node is given."`
	Node           string              `json:"node,omitempty" example:"node-a" doc:"Only the plugin on this node."`
	Strategy       string              `json:"strategy,omitempty" enum:"rolling|onDelete|recreate" doc:"rolling replaces one pod after another. onDelete replaces none: the next pod of a plugin has the new release, for example after restart-driver, or after stop-driver and start-driver. recreate ends all pods of the controller plugin before the next ones start, as a Deployment does. Default rolling."`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" example:"1" doc:"With rolling: the number of pods that may be missing at a time, or a percentage, which is rounded up for pods on nodes and down for pods of the controller plugin; default 1."`
	RestartAfter   strict.Duration     `json:"restartAfter,omitempty" example:"5s" doc:"The virtual time for which a pod is missing before the next one runs; default 0s."`
}

// Refused names the fields of a DaemonSet's update that a step does not support.
func (*upgradeDriverStep) Refused() map[string]string {
	return map[string]string{
		"maxSurge": "maxUnavailable: in a step the old pod ends before the next one starts; for a surge apply a DaemonSet with maxSurge to csisim up",
	}
}

func (s *upgradeDriverStep) check(c *checker) {
	c.driver("driver", s.Driver)
	c.version("to", s.Driver, s.To)
	if s.Node != "" {
		c.node("node", s.Node)
	}
	switch {
	case s.Node != "" && s.Plugin != "" && s.Plugin != nodePlugins:
		c.report("plugin", fmt.Sprintf("plugin %q of one node", s.Plugin), "node, or no plugin")
	case s.Strategy == recreate && s.Plugin != controllerPlugins:
		c.report("strategy", "strategy recreate of a DaemonSet", "plugin: controller beside it, or rolling or onDelete")
	case s.Strategy == onDelete && s.RestartAfter.Duration > 0:
		c.report("restartAfter", "restartAfter with strategy onDelete", "none: no pod is replaced")
	}
	s.checkMaxUnavailable(c)
}

// checkMaxUnavailable follows the validation of DaemonSets, which also rejects 0 without a surge.
func (s *upgradeDriverStep) checkMaxUnavailable(c *checker) {
	const want = "a number of pods from 1, or a percentage from 1% to 100%"
	if s.MaxUnavailable == nil {
		return
	}
	at100, err := intstr.GetScaledValueFromIntOrPercent(s.MaxUnavailable, 100, true)
	switch {
	case s.Strategy != "" && s.Strategy != rolling:
		c.report("maxUnavailable", "maxUnavailable with strategy "+s.Strategy, "strategy: rolling")
	case s.Node != "":
		c.report("maxUnavailable", "maxUnavailable of one node", "no node, for the plugins of all nodes")
	case err != nil || at100 < 1 || s.MaxUnavailable.Type == intstr.String && at100 > 100:
		c.report("maxUnavailable", fmt.Sprintf("%q", s.MaxUnavailable.String()), want)
	}
}

func (s *upgradeDriverStep) do(r *runner) error {
	cluster, err := r.simulation()
	if err != nil {
		return err
	}
	controllers, nodes := s.pods(r)
	switch s.Strategy {
	case onDelete:
		for _, p := range slices.Concat(controllers, nodes) {
			if err := cluster.SetVersion(p, s.To); err != nil {
				return err
			}
		}
		return nil
	case recreate:
		return s.replace(r, cluster, controllers)
	}
	for _, group := range s.groups(controllers, nodes) {
		if err := s.replace(r, cluster, group); err != nil {
			return err
		}
	}
	return nil
}

// pods returns the plugins to update: the replicas of the controller plugin, and the plugins on
// nodes.
func (s *upgradeDriverStep) pods(r *runner) (controllers, nodes []sim.Plugin) {
	name := r.driver(s.Driver)
	for _, node := range r.cluster.DriverNodes(name) {
		if s.Plugin != controllerPlugins && (s.Node == "" || s.Node == node) {
			nodes = append(nodes, sim.Plugin{Driver: name, Node: node})
		}
	}
	d := r.scenario.driverNamed(name)
	if s.Node != "" || s.Plugin == nodePlugins || !d.hasController() || d.isSingle() {
		return nil, nodes
	}
	if d.Replicas < 2 {
		return []sim.Plugin{{Driver: name}}, nodes
	}
	for i := range d.Replicas {
		controllers = append(controllers, sim.Plugin{Driver: pluginName(name, fmt.Sprint(i+1))})
	}
	return controllers, nodes
}

// groups returns the groups of pods that are replaced together. Both workloads are updated at the
// same time.
func (s *upgradeDriverStep) groups(controllers, nodes []sim.Plugin) (all [][]sim.Plugin) {
	ofController := slices.Collect(slices.Chunk(controllers, s.atOnce(len(controllers), false)))
	ofNodes := slices.Collect(slices.Chunk(nodes, s.atOnce(len(nodes), true)))
	for i := range max(len(ofController), len(ofNodes)) {
		var group []sim.Plugin
		if i < len(ofController) {
			group = append(group, ofController[i]...)
		}
		if i < len(ofNodes) {
			group = append(group, ofNodes[i]...)
		}
		all = append(all, group)
	}
	return all
}

// atOnce returns how many of n pods may be missing at a time, at least one.
func (s *upgradeDriverStep) atOnce(n int, roundUp bool) int {
	if s.MaxUnavailable == nil {
		return 1
	}
	most, _ := intstr.GetScaledValueFromIntOrPercent(s.MaxUnavailable, n, roundUp)
	return max(1, most)
}

// replace replaces all given pods together.
func (s *upgradeDriverStep) replace(r *runner, cluster *sim.Simulation, pods []sim.Plugin) error {
	for _, p := range pods {
		if err := cluster.EndForUpgrade(p, s.To); err != nil {
			return err
		}
	}
	if s.RestartAfter.Duration > 0 {
		if err := r.cluster.Advance(s.RestartAfter.Duration); err != nil {
			return err
		}
	}
	for _, p := range pods {
		if err := cluster.StartUpgraded(p); err != nil {
			return err
		}
	}
	return nil
}
