package sim

import (
	"fmt"
	"strconv"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/ledger"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// lookout watches calls, to know later which of them made what.
type lookout struct{ *Simulation }

func (l lookout) Began(at wire.Site, call *trace.Event) {
	if l.work != nil && ledger.Changes(call) {
		l.sightings.Began(call)
	}
	if l.showsMounts(at.Machine) {
		l.watchMounts(at.Machine)
		l.unmounts.Began(at.Machine.Name(), call, at.Deadline)
	}
}

func (l lookout) Ended(at wire.Site, call *trace.Event) {
	if l.showsMounts(at.Machine) {
		l.watchMounts(at.Machine)
		l.unmounts.Ended(at.Machine.Name(), call)
	}
	if ledger.Changes(call) {
		l.see(at.Machine, call)
		l.followData(call)
	}
}

// see takes notice of a machine's mounts and processes and of the run's loop devices, after a
// call or, without one, after a driver's start. What Go code of this process
// mounts in memory shows in its requests.
func (c *Simulation) see(m machine.Machine, ended *trace.Event) {
	if c.work == nil || wire.InProcess(m) {
		return
	}
	if table, err := m.Mounts(); err == nil && !c.sawAlready(m, table) {
		var things []ledger.Thing
		for i, key := range mountKeys(table) {
			things = append(things, ledger.Thing{Key: key, Text: table[i].Target + " " + table[i].Root + " " + table[i].Source})
		}
		c.sightings.Saw(mountsOf(m), m.Name(), things, ended)
	}
	if strays, err := m.Strays(); err == nil {
		var things []ledger.Thing
		for _, s := range strays {
			things = append(things, ledger.Thing{Key: strayKey(s), Text: s.Command})
		}
		c.sightings.Saw(straysOf(m), m.Name(), things, ended)
	}
	if loops, err := c.loopDevices.InUse(); err == nil {
		var things []ledger.Thing
		for _, l := range loops {
			things = append(things, ledger.Thing{Key: l.Device + " " + l.File, Text: l.File})
		}
		c.sightings.Saw(allLoops, "", things, ended)
	}
}

// sawAlready reports whether a machine's mounts are those that were looked at last:
// then it returns the same slice.
func (c *Simulation) sawAlready(m machine.Machine, table []machine.Mount) bool {
	before, again := c.mounts[m.Name()]
	c.mounts[m.Name()] = table
	return again && isSame(table, before)
}

// isSame reports whether two slices are one.
func isSame[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// The scopes of sightings.
const allLoops = "loop devices"

func mountsOf(m machine.Machine) string { return "mounts of " + m.Name() }
func straysOf(m machine.Machine) string { return "processes of " + m.Name() }

func strayKey(s machine.Stray) string { return strconv.Itoa(s.PID) }

// mountKeys distinguish the mounts of a table, also two on one target. What a mount
// shows does not count: that has another name when it is removed.
func mountKeys(table []machine.Mount) []string {
	keys, count := make([]string, len(table)), map[string]int{}
	for i, m := range table {
		key := m.Target + " " + m.Device
		count[key]++
		keys[i] = fmt.Sprintf("%s %d", key, count[key])
	}
	return keys
}

// loops enters the run's loop devices that no volume needs.
func (a *accountant) loops() {
	if a.work == nil {
		return
	}
	loops, err := a.loopDevices.InUse()
	if err != nil {
		a.unseen("loop devices", err)
	}
	for _, l := range loops {
		made := a.sightings.MadeIn(allLoops, l.Device+" "+l.File)
		if made == nil || a.inUse(made) {
			continue
		}
		e := ledger.Entry{Kind: ledger.LoopDevice, Name: l.Device, Node: made.Node, Detail: "shows " + l.File}
		a.history.InCall(&e, made)
		a.add(e)
	}
}

// strays enters the processes that a driver started in a call and left, though no
// volume needs them: a driver's own are those that it starts without a call.
func (a *accountant) strays(m machine.Machine) {
	strays, err := m.Strays()
	if err != nil {
		a.unseen("processes of "+m.Name(), err)
	}
	for _, s := range strays {
		made := a.sightings.MadeIn(straysOf(m), strayKey(s))
		if made == nil || a.inUse(made) {
			continue
		}
		e := ledger.Entry{Kind: ledger.Process, Name: fmt.Sprintf("%d (%s)", s.PID, s.Command), Node: m.Name(), Detail: "started by driver " + made.Driver}
		a.history.InCall(&e, made)
		a.add(e)
	}
}
