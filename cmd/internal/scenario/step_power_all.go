package scenario

import (
	"slices"

	"github.com/csisim/csisim/sim"
)

func init() {
	register("power-off-cluster", "Takes the power of a whole cluster away, of a scenario with clusters: its nodes, its control plane and the controllers of its drivers end where they stand, API objects and files stay, but for what driver programs made on their node's own disk and did not sync, and nobody reaches its API.", `power-off-cluster: west`, powerOffAllStep(""))
	register("power-on-cluster", "Gives a cluster its power back: what ran begins again.", `power-on-cluster: west`, powerOnAllStep(""))
}

// These steps are the name of a cluster.
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
