package scenario

func init() {
	register("power-off", "Cuts a node's power: kubelet, pods, driver and mounts end; files stay, except unsynced files of driver programs on the node's own disk.", `power-off: node-a`, powerOffStep(""))
	register("power-on", "Boots a node again.", `power-on: node-a`, powerOnStep(""))
}

// The value of these steps is the name of a node.
type (
	powerOffStep string
	powerOnStep  string
)

func (powerOffStep) Wanted() string { return wantNode }
func (powerOnStep) Wanted() string  { return wantNode }

func (s powerOffStep) check(c *checker) { c.node("", string(s)) }
func (s powerOnStep) check(c *checker)  { c.node("", string(s)) }

func (s powerOffStep) do(r *runner) error { return r.cluster.PowerOff(string(s)) }
func (s powerOnStep) do(r *runner) error  { return r.cluster.PowerOn(string(s)) }
