package ledger

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Left is a mount that a call should have removed but did not.
type Left struct {
	Undone  *trace.Event // the call that had to remove it
	Verdict verdict.Verdict
}

// MountedStill returns the mounts of a volume that remain after its detachment from the machine,
// although the call that had to remove them was answered OK. Mounts at the paths of that call are
// reported when it returns.
func (w *Watch) MountedStill(m machine.Machine, detach *trace.Event) (all []Left) {
	if !w.shows(m) {
		return nil
	}
	table, err := m.Mounts()
	if err != nil {
		return nil
	}
	for i, key := range mountKeys(table) {
		made := w.origins.MadeIn(mountsOf(m), key)
		if made == nil || made.Driver != detach.Driver || volumeOf(made) != volumeOf(detach) {
			continue
		}
		undone := w.undoOf(made)
		if undone != nil && succeeded(undone) && undone.Injected == "" && !isAt(Thing{Text: table[i].Target}, made) {
			all = append(all, Left{undone, contract.DetachedWithMount(undone.Method, table[i].Target)})
		}
	}
	return all
}

// undoOf returns the last call that should have undone another one; nil for none.
func (w *Watch) undoOf(made *trace.Event) *trace.Event {
	for _, e := range slices.Backward(w.trace.Events()) {
		switch {
		case e.Seq <= made.Seq:
			return nil
		case e.Kind == trace.Call && method(e) == undoes[method(made)] && e.Driver == made.Driver && e.Node == made.Node && volumeOf(e) == volumeOf(made):
			return e
		}
	}
	return nil
}
