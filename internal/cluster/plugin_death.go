package cluster

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/sidecar"
	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Follow arranges that the end of a program is recorded and that the program is restarted.
func (ds *Drivers) Follow(b *Program) {
	b.Spec.Ended = func(process *machine.Process) {
		ds.World.Kernel.Arrive("end of "+b.String(), func() { ds.programEnded(b, process) })
	}
}

// programEnded records the end of a program. It ignores programs that were killed or stopped, or
// that never became a driver.
func (ds *Drivers) programEnded(b *Program, process *machine.Process) {
	p := b.Plugin
	if !p.Running || !b.program.Is(process) {
		return
	}
	p.Running = false
	how, log := b.program.Termination()
	death := judged.Death{Of: p.String(), Text: fmt.Sprintf("%s: %s", p, how), Log: log, LogFile: filepath.Base(b.program.Log())}
	method := b.program.PanickedIn()
	if death.Call = ds.openCall(p, method); death.Call != nil {
		method = path.Base(death.Call.Method)
	}
	if method != "" {
		death.Text = fmt.Sprintf("%s in %s: %s", p, method, how)
	}
	ds.recordDeath(p, death)
	ds.disconnect(p)
	ds.restartLater(p, (*kernel.Process).Sleep)
}

func (ds *Drivers) recordDeath(p *Plugin, d judged.Death) {
	d.Text = ds.Wire.Renamed(d.Text)
	ds.Died = append(ds.Died, d)
	ds.World.Kernel.RecordOutside("end of a program: " + d.Text)
	ds.World.Trace.Add(trace.Entry{Kind: trace.Died, Node: p.Node, Driver: p.Driver.Name, Message: d.Text})
}

// openCall returns the last call to a plugin without an outcome; nil for none. An empty method
// means any method. Requests of csisim outside the run are not calls.
func (ds *Drivers) openCall(p *Plugin, method string) *trace.Event {
	for _, e := range slices.Backward(ds.World.Trace.Events()) {
		open := e.Kind == trace.Call && e.Driver == p.Driver.Name && e.Node == p.Node && e.Code == "" && e.Response == nil
		if open && (method == "" || path.Base(e.Method) == method) {
			return e
		}
	}
	return nil
}

// crashLoop counts the ends of a program, as the kubelet does. The count returns to zero when the
// program has run for sidecar.Stable.
type crashLoop struct {
	ends  int
	began time.Duration
}

// delay returns the kubelet's delay before it restarts a program that ends now.
func (l *crashLoop) delay(now time.Duration) time.Duration {
	if now-l.began >= sidecar.Stable {
		l.ends = 0
	}
	l.ends++
	return sidecar.CrashLoop(l.ends)
}

// restartLater restarts a program after the kubelet's delay, unless it was started or ended
// meanwhile. If the start fails, it retries with a backoff. These retries are housekeeping, because
// they may never end.
func (ds *Drivers) restartLater(p *Plugin, wait func(*kernel.Process, time.Duration)) {
	k, orders := ds.World.Kernel, p.orders
	k.Spawn(nil, "restart of "+p.String(), func(process *kernel.Process) {
		wait(process, p.loop.delay(k.Elapsed()))
		if p.orders != orders {
			return
		}
		ds.World.Trace.Add(p.restarted())
		p.loop.began = k.Elapsed()
		if err := ds.bringUp(p); err != nil {
			ds.recordDeath(p, notStarted(p, err))
			ds.restartLater(p, (*kernel.Process).Idle)
		}
	})
}

// restarted returns the trace entry for a plugin that the kubelet restarts.
func (p *Plugin) restarted() trace.Entry {
	e := trace.Transition{Part: trace.Plugin, Name: p.String(), Verb: trace.Started, Driver: p.Driver.Name}.Entry(p.Node)
	e.Message = fmt.Sprintf("%s restarted by the kubelet, restart %d", p, p.loop.ends)
	return e
}

// notStarted returns the death of a program that fails to start again.
func notStarted(p *Plugin, err error) judged.Death {
	d := judged.Death{Of: p.String(), Text: fmt.Sprintf("%s does not start again: %v", p, err)}
	if failed := (*program.StartError)(nil); errors.As(err, &failed) {
		d.Text = fmt.Sprintf("%s does not start again: %v", p, failed.Err)
		d.Log, d.LogFile = failed.Tail, filepath.Base(failed.Log)
	}
	return d
}

// notStopped returns the finding about a program that the kubelet cannot end.
func notStopped(p *Plugin, err error) judged.Death {
	return judged.Death{Of: p.String(), Text: fmt.Sprintf("%s does not stop: %v", p, err)}
}
