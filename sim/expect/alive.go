package expect

import (
	"slices"
	"strings"

	judged "github.com/csisim/csisim/internal/judge/program"
	"github.com/csisim/csisim/internal/world/trace"
)

// Death is the unexpected end of a driver's program.
type Death = judged.Death

// Alive expects that the programs of drivers do not exit by themselves, apart from allowed exits.
type Alive Allowed

// String returns the expectation in words.
func (Alive) String() string { return "the driver's program runs until it is stopped" }

// Failure reports a program that ended.
func (a Alive) Failure(ev *Evidence) *Failure {
	if ev.Died == nil {
		return nil
	}
	allowed, deaths := Allowed(a), ev.Died()
	var found []unwanted
	for _, d := range deaths {
		found = append(found, unwanted{d.Text, judged.Died(d)})
	}
	f := allowed.failure(a.String(), found)
	if f == nil {
		return nil
	}
	refused := allowed.refused(found)[0].text
	first := deaths[slices.IndexFunc(deaths, func(d Death) bool { return d.Text == refused })]
	if f.About = first.Call; f.About == nil {
		f.About = ev.first(trace.Died)
	}
	if len(first.Log) > 0 {
		f.Got += "\nthe end of " + first.LogFile + ":\n  " + strings.Join(first.Log, "\n  ")
	}
	return f
}
