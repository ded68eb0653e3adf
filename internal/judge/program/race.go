package program

import "github.com/csisim/csisim/internal/judge/verdict"

// Race is a data race that Go's race detector reports of a driver's program.
type Race struct{ First, Second Access }

// Access is one of its two accesses: a function, and the file and line, such as node.go:12.
type Access struct{ Function, Place string }

const dataRace verdict.Form = "data race"

// DataRace returns the verdict that a driver's program has a data race. Its name has the functions.
func DataRace(plugin string, r Race) verdict.Verdict {
	v := verdict.Verdict{Breaks: verdict.Alive, Form: dataRace, Found: []string{r.First.Place, r.Second.Place}}
	if r.First.Function == r.Second.Function {
		return v.Worded(verdict.Say("%s in %s: %s and %s of %s", verdict.Kept(dataRace), verdict.Kept(r.First.Function), r.First.Place, r.Second.Place, plugin))
	}
	return v.Worded(verdict.Say("%s in %s and %s: %s and %s of %s", verdict.Kept(dataRace),
		verdict.Kept(r.First.Function), verdict.Kept(r.Second.Function), r.First.Place, r.Second.Place, plugin))
}
