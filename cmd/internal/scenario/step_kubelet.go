package scenario

import "github.com/csisim/csisim/sim"

func init() {
	register("kill-kubelet", "Kills the kubelet of a node; its pods and mounts stay.", `kill-kubelet: node-a`, killKubeletStep(""))
	register("start-kubelet", "Starts the kubelet of a node again; it finds its mounts on disk.", `start-kubelet: node-a`, startKubeletStep(""))
	register("restart-kubelet", "Kills the kubelet of a node and starts it again.", `restart-kubelet: node-a`, restartKubeletStep(""))
}

// The value of these steps is the name of a node.
type (
	killKubeletStep    string
	startKubeletStep   string
	restartKubeletStep string
)

func (killKubeletStep) Wanted() string    { return wantNode }
func (startKubeletStep) Wanted() string   { return wantNode }
func (restartKubeletStep) Wanted() string { return wantNode }

const wantNode = `the name of a node, such as "node-a"`

func (s killKubeletStep) check(c *checker)    { c.node("", string(s)) }
func (s startKubeletStep) check(c *checker)   { c.node("", string(s)) }
func (s restartKubeletStep) check(c *checker) { c.node("", string(s)) }

func (s killKubeletStep) do(r *runner) error  { return r.cluster.Kill(sim.Kubelet(s)) }
func (s startKubeletStep) do(r *runner) error { return r.cluster.Start(sim.Kubelet(s)) }

func (s restartKubeletStep) do(r *runner) error {
	if err := r.cluster.Kill(sim.Kubelet(s)); err != nil {
		return err
	}
	return r.cluster.Start(sim.Kubelet(s))
}
