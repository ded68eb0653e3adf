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

// lives are those of a driver's volumes: whenever nothing is left of what it has made, its programs are to hold no more than before. Each
// life that ends so with more than the one before is one more of a row.
type lives struct {
	made map[string]bool // what calls have made and not taken away again
	held map[holding]*row
}

// holding is what a program holds of a kind.
type holding struct {
	process *machine.Process
	kind    Kind
}

// row is how much was held at the end of the last life, and in how many in a row it was more.
type row struct {
	last, longer int
	reported     bool
}

// growing is what a program holds more of with each life of a volume, and the call with which the last one ended.
type growing struct {
	entry Entry
	call  *trace.Event
}

// suspicious is how many lives in a row end with more than the one before. What a program keeps for later, it has by then.
const suspicious = 8

// holdPatience is how long, in wall time, a program that is suspected may take to let go of what it holds.
const holdPatience = 2 * time.Second

// lived takes notice of a call that has ended.
func (w *Watch) lived(call *trace.Event) {
	if !succeeded(call) {
		return
	}
	l := w.lives[call.Driver]
	if l == nil {
		l = &lives{made: map[string]bool{}, held: map[holding]*row{}}
		w.lives[call.Driver] = l
	}
	if Makes(call) {
		l.made[thing(method(call), call)] = true
		return
	}
	for make, undo := range undoes { // any order: one is meant
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

// thing is what a call makes or takes away, in the words of the one that makes it.
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

// weigh looks at how much a program holds of a kind, now that there is nothing.
func (w *Watch) weigh(l *lives, p Program, kind Kind, now int, call *trace.Event) {
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

// keepsMoreThan reports whether the program holds so many still when it has had time to let go.
func (h holding) keepsMoreThan(few int) bool {
	for end := time.Now().Add(holdPatience); time.Now().Before(end); time.Sleep(holdPatience / 100) {
		if len(h.now()) <= few {
			return false
		}
	}
	return true
}

// entry names what the program holds most often.
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
