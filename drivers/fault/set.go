package fault

import "cmp"

// Set is the list of active faults, in the order in which they were injected.
type Set struct{ faults []*Fault }

// Inject activates a fault. Its default name is the call, its default message names the fault.
func (s *Set) Inject(f *Fault) {
	f.Name = cmp.Or(f.Name, f.Call)
	f.Message = cmp.Or(f.Message, "fault "+f.Name)
	s.faults = append(s.faults, f)
}

// Clear ends the fault with a name, or all faults if name is empty, and releases the calls that
// they hold. It returns the number of ended faults.
func (s *Set) Clear(name string) int {
	return s.end(func(f *Fault) bool { return name == "" || f.Name == name })
}

// End ends a fault and releases the calls that it holds.
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

// Hit returns the fault that applies to this call: the first one that matches, can affect the call
// and is not used up. It returns nil if there is none.
func (s *Set) Hit(site Site, canAffect func(f *Fault, method string) bool) *Fault {
	for _, f := range s.faults {
		if !f.Matches(site) || !canAffect(f, site.Method) || (f.Times > 0 && f.fired >= f.Times) {
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

// InForce lists the faults that can still apply to a call.
func (s *Set) InForce() []*Fault {
	var open []*Fault
	for _, f := range s.faults {
		if f.Times == 0 || f.fired < f.Times {
			open = append(open, f)
		}
	}
	return open
}

// Unused lists the faults that never applied to a call.
func (s *Set) Unused() []*Fault {
	var unused []*Fault
	for _, f := range s.faults {
		if f.fired == 0 {
			unused = append(unused, f)
		}
	}
	return unused
}

// SetHits corrects the hit count of the fault when the affected call has ended. There may be
// several hits, or none if the driver made no such system call.
func (f *Fault) SetHits(times int) { f.fired += times - 1 }

// Left returns how often a fault may still take effect in the affected call; 0 means any number.
func (f *Fault) Left() int {
	if f.Times == 0 {
		return 0
	}
	return f.Times - f.fired + 1
}
