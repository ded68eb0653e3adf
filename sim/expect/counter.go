package expect

import (
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// Counter counts calls that match a pattern during the run. It checks each call once, and again
// only while the call has no answer.
type Counter struct {
	Journal *Journal
	Pattern calls.Pattern
	// Fitting is the number that Count returned last.
	Fitting int

	next int            // in the journal's calls
	open []*trace.Event // unanswered calls, which may still match
}

// Count returns the number of calls that fit so far.
func (c *Counter) Count() int {
	c.Journal.Update()
	waiting := c.open
	c.open = nil
	for _, e := range append(waiting, c.Journal.Calls[c.next:]...) {
		switch {
		case c.Pattern.Mismatch(e, c.Journal.Names) == "":
			c.Fitting++
		case !calls.Answered(e):
			c.open = append(c.open, e)
		}
	}
	c.next = len(c.Journal.Calls)
	return c.Fitting
}
