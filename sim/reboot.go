package sim

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// bootDelay is the time from the end of process 1 of a node until the node boots.
const bootDelay = 10 * time.Second

// lostProcessOne counts the end of process 1 of a machine as a loss of power, and boots it.
func (c *Simulation) lostProcessOne(m *machine.Disk, how string) {
	text := fmt.Sprintf("process 1 of %s: %s; the machine boots again", m.Name(), how)
	c.died = append(c.died, expect.Death{Of: "process 1 of " + m.Name(), Text: text})
	c.World.Kernel.RecordOutside("end of a program: " + text)
	c.World.Trace.Add(trace.Entry{Kind: trace.Died, Node: m.Name(), Message: text})
	n, err := c.node(m.Name())
	if err != nil { // a control plane: its programs start again by themselves
		c.noteFailure(m.Name(), m.PowerOff())
		c.noteFailure(m.Name(), m.Reboot())
		return
	}
	boots := !n.Off
	if boots {
		c.noteFailure(n.Name, c.PowerOff(n.Name))
	}
	c.noteFailure(n.Name, m.Reboot())
	if !boots {
		return
	}
	c.World.Kernel.Spawn(nil, "boot of "+n.Name, func(p *kernel.Process) {
		p.Sleep(bootDelay)
		if !n.Off {
			return
		}
		c.noteFailure(n.Name, c.PowerOn(n.Name))
		if n.Kubelet != nil {
			n.Kubelet.Rebooted("its process 1 has ended: " + how)
		}
	})
}

func (c *Simulation) noteFailure(node string, err error) {
	if err != nil {
		c.note(node, "does not boot: %v", err)
	}
}
