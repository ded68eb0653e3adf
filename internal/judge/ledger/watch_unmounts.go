package ledger

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// watchMounts looks for vanished mounts of a machine that no call should have unmounted.
func (w *Watch) watchMounts(m machine.Machine) {
	now, changed := w.mountsNow(m)
	if !changed {
		return
	}
	byKubelet := func(target string, after uint64) bool { return w.kubeletUnmounted(m.Name(), target, after) }
	w.report(m, w.unmounts.Saw(m.Name(), w.viewOf(m, now), byKubelet))
}

// Started checks whether a started driver has unmounted mounts that are in use.
func (w *Watch) Started(m machine.Machine, driver string) {
	if !w.shows(m) {
		return
	}
	if now, changed := w.mountsNow(m); changed {
		w.report(m, w.unmounts.Started(m.Name(), driver, w.viewOf(m, now)))
	}
}

func (w *Watch) report(m machine.Machine, found []Unmount) {
	for _, u := range found {
		v := u.Verdict(m.Name()).Renamed(w.Renamed)
		w.unmounted = append(w.unmounted, v)
		e := trace.Entry{Kind: trace.Unmounted, Node: m.Name(), Driver: u.Started, Name: w.Renamed(u.Target), Message: v.Found[0], Detail: v}
		if len(u.Calls) == 1 {
			e.Driver, e.Method = u.Calls[0].Driver, u.Calls[0].Method
		}
		w.trace.Add(e)
	}
}

// ResetMounts stores a machine's current mounts after programs other than drivers may have
// unmounted some.
func (w *Watch) ResetMounts(m machine.Machine) {
	maps.DeleteFunc(w.byHand[m.Name()], func(target string, _ bool) bool {
		mounted, err := m.IsMountPoint(target)
		return !mounted && (err == nil || errors.Is(err, fs.ErrNotExist))
	})
	if !w.shows(m) {
		return
	}
	if now, changed := w.mountsNow(m); changed {
		w.unmounts.Reset(m.Name(), w.viewOf(m, now))
	}
}

// MountedByHand records a mount that an administrator has made on a machine.
func (w *Watch) MountedByHand(m machine.Machine, target string) {
	if w.byHand[m.Name()] == nil {
		w.byHand[m.Name()] = map[string]bool{}
	}
	w.byHand[m.Name()][target] = true
	w.See(m, nil)
	w.ResetMounts(m)
}

// machineMounts holds the mounts that a machine reports: the same slices as long as nothing
// changes.
type machineMounts struct {
	mounts  []machine.Mount
	missing []machine.Missing
}

// mountsNow returns a machine's mounts, and whether they differ from the previous ones. A machine
// without that information returns nothing.
func (w *Watch) mountsNow(m machine.Machine) (now machineMounts, changed bool) {
	mounts, err := m.Mounts()
	if err != nil {
		return now, false
	}
	missing, err := m.Missing()
	if err != nil {
		return now, false
	}
	now = machineMounts{mounts, missing}
	before := w.watched[m.Name()]
	w.watched[m.Name()] = now
	return now, !isSame(mounts, before.mounts) || !isSame(missing, before.missing)
}

func (w *Watch) viewOf(m machine.Machine, now machineMounts) View {
	view := View{Last: w.trace.Last(), ByHand: w.byHand[m.Name()]}
	for _, mount := range now.mounts {
		if strings.HasPrefix(mount.Target, m.Layout().KubeletDir()+"/") {
			view.Mounts = append(view.Mounts, mount.Target)
		}
	}
	for _, one := range now.missing {
		view.Missing = append(view.Missing, Missing{Target: one.Target, Driver: w.DriverOf(m, one.PID)})
	}
	return view
}

func (w *Watch) kubeletUnmounted(node, target string, after uint64) bool {
	for _, e := range slices.Backward(w.trace.Events()) {
		switch {
		case e.Seq <= after:
			return false
		case e.Kind == trace.FileChange && e.Node == node && e.Name == target && e.Method == "unmount":
			return true
		}
	}
	return false
}

// Unmounted returns a verdict on each foreign mount that a driver removed.
func (w *Watch) Unmounted() []verdict.Verdict { return w.unmounted }
