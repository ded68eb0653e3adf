package kernel

import (
	"slices"
	"strings"
)

// arrival is an event outside the kernel: the end of a program, a new socket, an answer.
type arrival struct {
	name  string
	enter func()
}

// Arrive runs f when no other work is left at this instant and all calls in progress are answered.
// The strategy chooses the order of all pending arrivals, regardless of the order in which they
// arrived. Arrivals with the same name keep their order. In a live run f runs between two steps.
// Arrive may be called from any goroutine.
func (k *Kernel) Arrive(name string, f func()) {
	k.flights.mu.Lock()
	k.flights.news = append(k.flights.news, arrival{name, f})
	k.flights.mu.Unlock()
	k.flights.wake()
}

// enter runs the arrivals since the last time: first news by name, then answers in the order of the
// calls, unless the strategy chooses another order. It reports whether there were any.
func (k *Kernel) enter() bool {
	all := k.flights.takeNews()
	for _, f := range k.flights.takeAnswered() {
		if k.opts.Pace == Measured {
			k.flights.delay(f)
			continue
		}
		all = append(all, arrival{f.label, f.land})
	}
	for rest := all; len(rest) > 0; {
		i := 0
		if !k.calm {
			i = k.Choose(Enter, len(rest), "events from outside")
		}
		next := rest[i]
		rest = slices.Delete(rest, i, i+1)
		next.enter()
	}
	return len(all) > 0
}

// takeNews removes and returns all news, sorted by name.
func (f *flights) takeNews() []arrival {
	f.mu.Lock()
	defer f.mu.Unlock()
	news := f.news
	f.news = nil
	slices.SortStableFunc(news, func(a, b arrival) int { return strings.Compare(a.name, b.name) })
	return news
}

// land passes the answer to its caller.
func (f *Flight) land() {
	f.landed = true
	f.proc.Wake()
}
