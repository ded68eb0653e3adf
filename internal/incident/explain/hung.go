package explain

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// long is the duration from which an unfinished call is worth a finding. The longest usual timeouts
// of callers are 2 minutes.
const long = 2 * time.Minute

// isHung reports whether a call of the operation has not returned for long.
func (s *Story) isHung(o *Operation) bool { return o.Open != nil && s.Ended-o.Open.Since >= long }

// A call never returned.
var _ = register("call-hangs", cause, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if s.isHung(o) {
			found = append(found, s.hung(o))
		}
	}
	return found
})

func (s *Story) hung(o *Operation) Finding {
	call := o.Open
	f := Finding{
		Title:     fmt.Sprintf("%s has not returned for %s%s: %s until the end of the logs", call.RPC, o.subject(), placed(o), trace.Span(s.Ended-call.Since)),
		Component: s.componentName(o), Certainty: Likely, Since: call.Since, Until: s.Ended, Seen: []Place{call.Seen}, volume: o.Volume, node: o.Node, open: o,
		Cause:  "the log has the call and no answer to it",
		Chain:  append(s.waitersFor(o), s.actor(o)+" waits for "+call.RPC+" of "+s.componentName(o)),
		Advice: "look in the driver's log for the last line of this call, and at its backend",
	}
	if o.Failures > 0 {
		f.Cause += fmt.Sprintf("; %s after it failed: %s", plural.Of(o.Failures, "call"), codeWords(o))
		f.Seen = append(f.Seen, o.Seen)
	}
	return f
}

func (s *Story) componentName(o *Operation) string {
	if o.Volume.Driver != "" {
		return "driver " + o.Volume.Driver
	}
	return "the driver"
}
