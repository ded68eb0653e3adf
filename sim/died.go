package sim

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// Died are the programs of drivers that ended by themselves.
func (c *Simulation) Died() []expect.Death { return c.died }

// programEnded records the end of a program. It ignores programs that were killed or stopped, or
// that never became a driver.
func (c *Simulation) programEnded(b *programBackend, process *machine.Process) {
	p := b.plugin
	if !p.running || !b.program.Is(process) {
		return
	}
	p.running = false
	how, log := b.program.Termination()
	death := expect.Death{Of: p.String(), Text: fmt.Sprintf("%s: %s", p, how), Log: log, LogFile: filepath.Base(b.program.Log())}
	method := b.program.PanickedIn()
	if death.Call = c.openCall(p, method); death.Call != nil {
		method = path.Base(death.Call.Method)
	}
	if method != "" {
		death.Text = fmt.Sprintf("%s in %s: %s", p, method, how)
	}
	c.recordDeath(p, death)
	c.disconnect(p)
	c.restartLater(p, (*kernel.Process).Sleep)
}

func (c *Simulation) recordDeath(p *plugin, d expect.Death) {
	d.Text = c.Wire.Renamed(d.Text)
	c.died = append(c.died, d)
	c.World.Kernel.RecordOutside("end of a program: " + d.Text)
	c.World.Trace.Add(trace.Entry{Kind: trace.Died, Node: p.node, Driver: p.driver.Name, Message: d.Text})
}

// openCall returns the last call to a plugin without an outcome; nil for none. An empty method
// means any method. Requests of csisim outside the run are no calls.
func (c *Simulation) openCall(p *plugin, method string) *trace.Event {
	for _, e := range slices.Backward(c.World.Trace.Events()) {
		open := e.Kind == trace.Call && e.Driver == p.driver.Name && e.Node == p.node && e.Code == "" && e.Response == nil
		if open && (method == "" || path.Base(e.Method) == method) {
			return e
		}
	}
	return nil
}

// crashLoop counts the ends of a program, as the kubelet does: it forgets them when the
// program has run for sidecar.Stable.
type crashLoop struct {
	ends  int
	began time.Duration
}

// delay is the time that the kubelet waits before it restarts a program that ends now.
func (l *crashLoop) delay(now time.Duration) time.Duration {
	if now-l.began >= sidecar.Stable {
		l.ends = 0
	}
	l.ends++
	return sidecar.CrashLoop(l.ends)
}

// restartLater starts a program again when the kubelet would, unless it has been started or ended
// by then. If the start fails, it retries with a backoff; this is housekeeping, because it may
// continue for ever.
func (c *Simulation) restartLater(p *plugin, wait func(*kernel.Process, time.Duration)) {
	k, orders := c.World.Kernel, p.orders
	k.Spawn(nil, "restart of "+p.String(), func(process *kernel.Process) {
		wait(process, p.loop.delay(k.Elapsed()))
		if p.orders != orders {
			return
		}
		c.World.Trace.Add(p.restarted())
		p.loop.began = k.Elapsed()
		if err := c.bringUp(p); err != nil {
			c.recordDeath(p, notStarted(p, err))
			c.restartLater(p, (*kernel.Process).Idle)
		}
	})
}

// restarted is the entry of a plugin that the kubelet restarts.
func (p *plugin) restarted() trace.Entry {
	e := trace.Transition{Part: trace.Plugin, Name: p.String(), Verb: trace.Started, Driver: p.driver.Name}.Entry(p.node)
	e.Message = fmt.Sprintf("%s restarted by the kubelet, restart %d", p, p.loop.ends)
	return e
}

// notStarted is the death of a program that fails to start again.
func notStarted(p *plugin, err error) expect.Death {
	d := expect.Death{Of: p.String(), Text: fmt.Sprintf("%s does not start again: %v", p, err)}
	if failed := (*program.StartError)(nil); errors.As(err, &failed) {
		d.Text = fmt.Sprintf("%s does not start again: %v", p, failed.Err)
		d.Log, d.LogFile = failed.Tail, filepath.Base(failed.Log)
	}
	return d
}

// programAt returns the program that serves a socket; nil if it is not one of the run's programs.
func (c *Simulation) programAt(at wire.Site) *machine.Process {
	for _, b := range c.programs() {
		if b.running && b.servesAt(at) {
			return b.program.Process()
		}
	}
	return nil
}

// notStopped is the finding about a program that the kubelet cannot end.
func notStopped(p *plugin, err error) expect.Death {
	return expect.Death{Of: p.String(), Text: fmt.Sprintf("%s does not stop: %v", p, err)}
}
