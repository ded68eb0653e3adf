package scenario

import (
	"slices"

	"github.com/csisim/csisim/sim"
)

func init() {
	register("power-off-cluster", "Cuts the power of a whole cluster, in a scenario with clusters: its nodes, its control plane and the controllers of its drivers stop at once, and its API is unreachable. API objects and files stay, except unsynced files of driver programs on their node's own disk.", `power-off-cluster: west`, powerOffAllStep(""))
	register("power-on-cluster", "Restores the power of a cluster: its components start again.", `power-on-cluster: west`, powerOnAllStep(""))
}

// The value of these steps is the name of a cluster.
type (
	powerOffAllStep string
	powerOnAllStep  string
)

func (powerOffAllStep) Wanted() string { return wantCluster }
func (powerOnAllStep) Wanted() string  { return wantCluster }

const wantCluster = "the name of a cluster of this scenario, such as west"

func (s powerOffAllStep) check(c *checker) { c.cluster("", string(s)) }
func (s powerOnAllStep) check(c *checker)  { c.cluster("", string(s)) }

func (c *checker) cluster(field, name string) {
	if known := c.scenario.Clusters; !slices.Contains(known, name) {
		c.unknown(field, "cluster", name, slices.Clone(known))
	}
}

func (s powerOffAllStep) do(r *runner) error {
	return r.whole(string(s), (*sim.Simulation).PowerOffAll)
}
func (s powerOnAllStep) do(r *runner) error { return r.whole(string(s), (*sim.Simulation).PowerOnAll) }

func (r *runner) whole(cluster string, do func(*sim.Simulation) error) error {
	r.enter(cluster)
	s, err := r.simulation()
	if err != nil {
		return err
	}
	return do(s)
}
