package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Program is a driver's program that runs.
type Program struct {
	Plugin, Node string
	Process      *machine.Process
}

// growth follows the lives of a driver's volumes. Whenever everything that the driver has created
// is removed, its programs should hold no more resources than before. If a life ends with more
// resources than the previous one, the row counts one more such life.
type growth struct {
	made map[string]bool // things that calls have created and not removed
	held map[holding]*row
}

// holding is a kind of thing that a program holds.
type holding struct {
	process *machine.Process
	kind    Kind
}

// row counts the things held at the end of the last life, and the successive lives that ended with
// more.
type row struct {
	last, longer int
	reported     bool
}

// growing describes the kind of things of which a program holds more after each life of a volume,
// and the call that ended the last life.
type growing struct {
	entry Entry
	call  *trace.Event
}

// suspicious is the number of successive lives that end with more than the previous one. After this
// number of lives, a program's caches are full.
const suspicious = 8

// holdPatience is the wall time in which a suspected program may release the things that it holds.
const holdPatience = 2 * time.Second

// lived records the end of a call.
func (w *Watch) lived(call *trace.Event) {
	if !succeeded(call) {
		return
	}
	l := w.growth[call.Driver]
	if l == nil {
		l = &growth{made: map[string]bool{}, held: map[holding]*row{}}
		w.growth[call.Driver] = l
	}
	if Makes(call) {
		l.made[thing(method(call), call)] = true
		return
	}
	for make, undo := range undoes { // any order: only one matches
		if undo == method(call) {
			delete(l.made, thing(make, call))
		}
	}
	if len(l.made) > 0 {
		return
	}
	for _, p := range w.Programs(call.Driver) {
		files, unreaped := p.Process.Holds()
		w.weigh(l, p, OpenFile, len(files), call)
		w.weigh(l, p, DeadProcess, len(unreaped), call)
	}
}

// thing names the object that a call creates or removes, in the words of the creating call.
func thing(make string, call *trace.Event) string {
	switch make {
	case "NodePublishVolume":
		return make + " " + call.Node + " " + text(call.Request, "target_path")
	case "NodeStageVolume":
		return make + " " + call.Node + " " + text(call.Request, "volume_id")
	case "ControllerPublishVolume":
		return make + " " + text(call.Request, "node_id") + " " + text(call.Request, "volume_id")
	}
	return make + " " + cmp.Or(createdID(call), text(call.Request, "volume_id"), text(call.Request, "snapshot_id"), text(call.Request, "group_snapshot_id"))
}

// weigh compares the number of things of a kind that a program holds after this life of a volume to
// the number after the previous life.
func (w *Watch) weigh(l *growth, p Program, kind Kind, now int, call *trace.Event) {
	h := holding{p.Process, kind}
	r := l.held[h]
	if r == nil {
		l.held[h] = &row{last: now}
		return
	}
	if now > r.last {
		r.longer++
	} else {
		r.longer = 0
	}
	if r.longer >= suspicious && !r.reported && h.keepsMoreThan(r.last) {
		r.reported = true
		w.growing = append(w.growing, growing{p.entry(kind, h.now(), call), call})
	}
	r.last = now
}

func (h holding) now() []string {
	files, unreaped := h.process.Holds()
	if h.kind == OpenFile {
		return files
	}
	return unreaped
}

// keepsMoreThan reports whether the program still holds more than a number of things after it had
// time to release them.
func (h holding) keepsMoreThan(few int) bool {
	for end := time.Now().Add(holdPatience); time.Now().Before(end); time.Sleep(holdPatience / 100) {
		if len(h.now()) <= few {
			return false
		}
	}
	return true
}

// entry names the thing that the program holds most often.
func (p Program) entry(kind Kind, held []string, call *trace.Event) Entry {
	count := map[string]int{}
	most := ""
	for _, name := range slices.Sorted(slices.Values(held)) {
		if count[name]++; count[name] > count[most] {
			most = name
		}
	}
	return Entry{Kind: kind, Name: most, Node: p.Node, Undo: method(call),
		Detail: fmt.Sprintf("of %s, which has %d now and more with each life of a volume", p.Plugin, len(held))}
}
