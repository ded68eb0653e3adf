package fault

import "cmp"

// Set is the faults in force, in the order in which they were injected.
type Set struct{ faults []*Fault }

// Inject puts a fault in force. Without a name it has that of the call, without a
// message it gives its name.
func (s *Set) Inject(f *Fault) {
	f.Name = cmp.Or(f.Name, f.Call)
	f.Message = cmp.Or(f.Message, "fault "+f.Name)
	s.faults = append(s.faults, f)
}

// Clear ends the fault of that name, all faults if name is empty, and lets go of
// the calls that they hold. It reports how many it ended.
func (s *Set) Clear(name string) int {
	return s.end(func(f *Fault) bool { return name == "" || f.Name == name })
}

// End ends this fault and lets go of the calls that it holds.
func (s *Set) End(f *Fault) { s.end(func(other *Fault) bool { return other == f }) }

func (s *Set) end(over func(*Fault) bool) int {
	var kept []*Fault
	for _, f := range s.faults {
		if over(f) {
			f.clear()
		} else {
			kept = append(kept, f)
		}
	}
	ended := len(s.faults) - len(kept)
	s.faults = kept
	return ended
}

// Strike returns the fault that befalls this call, nil if none does. The first
// that matches and is not used up does.
func (s *Set) Strike(site Site) *Fault {
	for _, f := range s.faults {
		if !f.Matches(site) || (f.Times > 0 && f.fired >= f.Times) {
			continue
		}
		f.seen++
		if f.seen <= f.After {
			continue
		}
		f.fired++
		return f
	}
	return nil
}

// InForce lists the faults that can still befall a call.
func (s *Set) InForce() []*Fault {
	var open []*Fault
	for _, f := range s.faults {
		if f.Times == 0 || f.fired < f.Times {
			open = append(open, f)
		}
	}
	return open
}

// Unused lists the faults that never befell a call.
func (s *Set) Unused() []*Fault {
	var unused []*Fault
	for _, f := range s.faults {
		if f.fired == 0 {
			unused = append(unused, f)
		}
	}
	return unused
}

// Struck corrects, when the call has ended which a fault befell, how often it took effect in that: not at all, if the
// driver made no such system call, or several times.
func (f *Fault) Struck(times int) { f.fired += times - 1 }

// Left is how often a fault may take effect in the call that it befalls; 0 is any number.
func (f *Fault) Left() int {
	if f.Times == 0 {
		return 0
	}
	return f.Times - f.fired + 1
}
