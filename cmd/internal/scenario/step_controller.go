package scenario

import "github.com/csisim/csisim/sim"

func init() {
	register("kill-controller", "Kills a controller or sidecar; its memory is lost.",
		`kill-controller: attachdetach`, killControllerStep(""))
	register("start-controller", "Starts a controller or sidecar again.",
		`start-controller: attachdetach`, startControllerStep(""))
	register("restart-controller", "Kills a controller or sidecar and starts it again.",
		`restart-controller: csi-attacher/mock.csi.csisim.dev`, restartControllerStep(""))
}

// These steps take the name of a controller. kube-controller-manager means all of its controllers.
type (
	killControllerStep    string
	startControllerStep   string
	restartControllerStep string
)

func (killControllerStep) Wanted() string    { return wantController }
func (startControllerStep) Wanted() string   { return wantController }
func (restartControllerStep) Wanted() string { return wantController }

const wantController = `the name of a controller or sidecar, such as "attachdetach" or "csi-attacher/<driver>"`

func (s killControllerStep) check(c *checker)    { c.controller("", string(s)) }
func (s startControllerStep) check(c *checker)   { c.controller("", string(s)) }
func (s restartControllerStep) check(c *checker) { c.controller("", string(s)) }

func (s killControllerStep) do(r *runner) error  { return r.cluster.Kill(sim.Controller(s)) }
func (s startControllerStep) do(r *runner) error { return r.cluster.Start(sim.Controller(s)) }

func (s restartControllerStep) do(r *runner) error {
	if err := r.cluster.Kill(sim.Controller(s)); err != nil {
		return err
	}
	return r.cluster.Start(sim.Controller(s))
}
