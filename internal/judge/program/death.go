package program

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Death is the unexpected end of a driver's program.
type Death struct {
	// Text describes the end of the program in one line. It begins with the plugin, Of.
	Text, Of string
	// Call is the call in progress at its end; nil for none.
	Call *trace.Event
	// Log are the lines of the program's log that show it, and LogFile the log's name.
	Log     []string
	LogFile string
}

// died is the form of a verdict on a death.
const died verdict.Form = "driver died"

// Died returns the verdict on a death.
func Died(d Death) verdict.Verdict {
	v := verdict.Verdict{Breaks: verdict.Alive, Form: died, Found: []string{d.Text}}
	if d.Call != nil {
		v.Method, v.Event = d.Call.Method, d.Call.Seq
	}
	return v.Worded(verdict.Say("%s: %s", verdict.Kept(died), d.words()))
}

// words returns the text with marks on the parts that vary between runs: the driver and its node.
// The name of a controller plugin shows that it is a controller plugin.
func (d Death) words() verdict.Sentence {
	rest, of := strings.CutPrefix(d.Text, d.Of)
	if !of {
		return verdict.Say("%s", verdict.Quoted(d.Text))
	}
	name, role, _ := strings.Cut(strings.TrimPrefix(d.Of, "driver "), ",")
	where, _, _ := strings.Cut(rest, ":") // the other words are the program's own
	return verdict.Say("driver %s%s%s", name, verdict.Kept(role), verdict.Kept(where)).Instead(d.Text)
}
