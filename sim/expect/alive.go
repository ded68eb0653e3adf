package expect

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// Death is the end of a driver's program that nobody asked for.
type Death struct {
	// Text says in one line whose program ended, and how.
	Text string
	// Call is the call that it worked on; nil if there was none.
	Call *trace.Event
	// Log are the lines of the program's log that show it, and LogFile the log's name.
	Log     []string
	LogFile string
}

// Alive is that the programs of drivers do not end by themselves, but for what is allowed.
type Alive Allowed

// String says it in words.
func (Alive) String() string { return "the driver's program runs until it is stopped" }

// Failure is a program that ended.
func (a Alive) Failure(ev *Evidence) *Failure {
	if ev.Died == nil {
		return nil
	}
	allowed, deaths := Allowed(a), ev.Died()
	var found []string
	for _, d := range deaths {
		found = append(found, d.Text)
	}
	f := allowed.failure("driver died", a.String(), found)
	if f == nil {
		return nil
	}
	first := deaths[slices.Index(found, allowed.refused(found)[0])]
	if f.About = first.Call; f.About == nil {
		f.About = ev.first(trace.Died)
	}
	if len(first.Log) > 0 {
		f.Got += "\nthe end of " + first.LogFile + ":\n  " + strings.Join(first.Log, "\n  ")
	}
	return f
}
