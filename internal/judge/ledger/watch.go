package ledger

import (
	"fmt"
	"strconv"
	"time"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
)

// Watch follows calls and assigns things to the calls that created them. It looks for mounts that
// vanished although no call should have unmounted them.
type Watch struct {
	// Loops are the run's loop devices; nil if all is in memory.
	Loops *workdir.Loops
	// DriverOf returns the driver that a process of a machine belongs to, empty if there is none.
	DriverOf func(m machine.Machine, pid int) string
	// Renamed is a text without the random parts of the run's paths.
	Renamed func(text string) string
	// Programs returns the running programs of a driver. Default: it has none.
	Programs func(driver string) []Program

	trace    *trace.Recorder
	origins  *Origins
	seen     map[string][]machine.Mount // mounts of each machine, at the last check
	unmounts *Unmounts
	// Of each machine, at the last check for unmounts.
	watched   map[string]machineMounts
	byHand    map[string]map[string]bool // the targets of an administrator's mounts, by machine
	unmounted []verdict.Verdict          // unmounts of mounts that were not the driver's own
	growth    map[string]*growth         // by driver
	growing   []growing                  // resources that grow with each life of a volume
}

// NewWatch returns a watch without any observations.
func NewWatch(to *trace.Recorder) *Watch {
	return &Watch{trace: to, origins: NewOrigins(), seen: map[string][]machine.Mount{}, unmounts: NewUnmounts(), watched: map[string]machineMounts{}, byHand: map[string]map[string]bool{}, growth: map[string]*growth{}}
}

// Began records a call to a plugin on a machine.
func (w *Watch) Began(m machine.Machine, call *trace.Event, deadline time.Duration) {
	if w.Loops != nil && Changes(call) {
		w.origins.Began(call)
	}
	if w.shows(m) {
		w.watchMounts(m)
		w.unmounts.Began(m.Name(), call, deadline)
	}
}

// Ended records the things that a call has created.
func (w *Watch) Ended(m machine.Machine, call *trace.Event) {
	if w.shows(m) {
		w.watchMounts(m)
		w.unmounts.Ended(m.Name(), call)
	}
	if Changes(call) {
		w.See(m, call)
	}
	if w.Programs != nil && w.shows(m) && Changes(call) {
		w.lived(call)
	}
}

// shows reports whether a machine has observable mounts and processes. For a machine in memory,
// only the requests are known.
func (w *Watch) shows(m machine.Machine) bool {
	_, inMemory := m.(*machine.Memory)
	return w.Loops != nil && !inMemory
}

// See records a machine's mounts and processes and the run's loop devices, after a call or after a
// driver's start. Mounts that Go code of this process makes in memory are known from its requests.
func (w *Watch) See(m machine.Machine, ended *trace.Event) {
	if !w.shows(m) {
		return
	}
	if table, err := m.Mounts(); err == nil && !w.sawAlready(m, table) {
		var things []Thing
		for i, key := range mountKeys(table) {
			things = append(things, Thing{Key: key, Text: table[i].Target + " " + table[i].Root + " " + table[i].Source})
		}
		w.origins.Saw(mountsOf(m), m.Name(), things, ended)
	}
	if strays, err := m.Strays(); err == nil {
		var things []Thing
		for _, s := range strays {
			things = append(things, Thing{Key: strayKey(s.PID), Parent: strayKey(s.Parent), Text: s.Command})
		}
		w.origins.Saw(straysOf(m), m.Name(), things, ended)
	}
	if loops, err := w.Loops.InUse(); err == nil {
		var things []Thing
		for _, l := range loops {
			things = append(things, Thing{Key: l.Device + " " + l.File, Text: l.File})
		}
		w.origins.Saw(allLoops, "", things, ended)
	}
}

// sawAlready reports whether a machine's mounts are unchanged since the last check. The machine
// then returns the same slice.
func (w *Watch) sawAlready(m machine.Machine, table []machine.Mount) bool {
	before, again := w.seen[m.Name()]
	w.seen[m.Name()] = table
	return again && isSame(table, before)
}

// isSame reports whether two slices share their memory.
func isSame[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// The scopes of sightings.
const allLoops = "loop devices"

func mountsOf(m machine.Machine) string { return "mounts of " + m.Name() }
func straysOf(m machine.Machine) string { return "processes of " + m.Name() }

func strayKey(pid int) string { return strconv.Itoa(pid) }

// mountKeys returns keys that distinguish the mounts of a table, even two mounts on one target. The
// root of a mount does not count, because it is renamed when it is removed.
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
	if a.Loops == nil {
		return
	}
	loops, err := a.Loops.InUse()
	if err != nil {
		a.unseen("loop devices", err)
	}
	for _, l := range loops {
		made := a.Watch.origins.MadeIn(allLoops, l.Device+" "+l.File)
		if made == nil || a.inUse(made) {
			continue
		}
		e := Entry{Kind: LoopDevice, Name: l.Device, Node: made.Node, Detail: "shows " + l.File}
		a.history.InCall(&e, made)
		a.add(e)
	}
}

// strayPatience bounds the wall time in which a process may end by itself, because on a busy
// computer that takes a moment.
const strayPatience = time.Second

// strays enters processes that a driver started in a call and left running although no volume needs
// them. Processes that a driver starts outside calls belong to the driver.
func (a *accountant) strays(m machine.Machine) {
	left := a.straysNow(m)
	for end := time.Now().Add(strayPatience); len(left) > 0 && time.Now().Before(end); left = a.straysNow(m) {
		time.Sleep(strayPatience / 100)
	}
	for _, e := range left {
		a.add(e)
	}
}

func (a *accountant) straysNow(m machine.Machine) (left []Entry) {
	strays, err := m.Strays()
	if err != nil {
		a.unseen("processes of "+m.Name(), err)
	}
	for _, s := range strays {
		made := a.Watch.origins.MadeIn(straysOf(m), strayKey(s.PID))
		if made == nil || a.inUse(made) {
			continue
		}
		e := Entry{Kind: Process, Name: fmt.Sprintf("%d (%s)", s.PID, s.Command), Node: m.Name(), Detail: "started by driver " + made.Driver}
		a.history.InCall(&e, made)
		left = append(left, e)
	}
	return left
}
