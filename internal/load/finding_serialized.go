package load

import (
	"fmt"
	"math"

	"github.com/csisim/csisim/internal/world/plural"
)

// Crowd is the number of concurrent calls that is sufficient to show whether a driver works on
// several calls at once.
const Crowd = 4

// A driver that serves calls one at a time is reported under three conditions: enough calls ended
// while others were in progress, a single call takes some milliseconds, and the driver hardly ever
// has two busy threads. Otherwise the processors or the disk are the limit.
const (
	crowdEnds  = 12
	alone      = 8.0 // milliseconds, of a level with one volume
	leastShare = 0.75
	mostShare  = 2.2
	mostBusy   = 1.7 // busy threads: a driver with more of them works on several calls
)

func serialized(r *Result) (found []Finding) {
	if texts := r.oneAtATime(); texts != nil {
		return []Finding{{"serialized", "the driver serves one call at a time, of all kinds", texts}}
	}
	for _, method := range r.Methods() {
		if text := r.serialized(method); text != "" {
			found = append(found, Finding{Name: "serialized/" + method, Text: text})
		}
	}
	return found
}

// serialized describes how calls of one kind wait for each other; empty if they overlap.
func (r *Result) serialized(method string) string {
	if r.Levels[0].Volumes > 1 {
		return "" // the time of a single call is not known
	}
	if busy := r.Largest().busyAt(method); busy == 0 || busy > mostBusy {
		return ""
	}
	single, seconds, ended, most := r.Levels[0].fastest(method), 0.0, 0, 0
	for _, run := range r.Largest().Runs {
		if c := run.Calls[method]; c != nil {
			s, n := c.crowded(Crowd)
			seconds, ended, most = seconds+s, ended+n, max(most, c.inFlight())
		}
	}
	each := seconds * 1e3 / float64(max(1, ended))
	if !Changes(method) || ended < crowdEnds || single < alone || each < leastShare*single || each > mostShare*single {
		return ""
	}
	return fmt.Sprintf("%s is serialized: up to %s at once, and one ends each %s; a call alone takes %s", method, plural.Of(most, "call"), Millis(each), Millis(single))
}

// fastest returns a low percentile of the times of a level, in milliseconds.
func (l Level) fastest(method string) float64 {
	took := l.Times(method)
	if len(took) == 0 {
		return 0
	}
	return took[len(took)/10]
}

// busyAt returns the number of concurrently busy threads of the driver in the phase with most calls
// of one kind; of several runs, the smallest number counts.
func (l Level) busyAt(method string) float64 {
	least := math.Inf(1)
	for _, run := range l.Runs {
		c := run.Calls[method]
		if c == nil {
			continue
		}
		most := 0
		var busy float64
		for _, p := range run.Phases {
			in := 0
			for _, began := range c.Began {
				if began >= p.Began && began < p.Began+p.Took {
					in++
				}
			}
			if in > most {
				most, busy = in, p.Busy
			}
		}
		least = min(least, busy)
	}
	return least
}
