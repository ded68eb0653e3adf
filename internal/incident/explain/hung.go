package explain

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/trace"
)

// long is the duration from which a call that has not returned is worth a finding: the longest
// usual timeouts of callers are 2 minutes.
const long = 2 * time.Minute

// A call never returned.
var _ = register("call-hangs", cause, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if !o.IsRunning || o.Call == "" || s.Ended-o.Since < long {
			continue
		}
		f := Finding{
			Title:     fmt.Sprintf("%s has not returned for %s%s: %s", o.Call, o.subject(), placed(o), trace.Span(s.Ended-o.Since)+" until the end of the logs"),
			Component: s.componentName(o), Certainty: Likely, Since: o.Since, Until: s.Ended, Seen: []Place{o.Seen}, volume: o.Volume, node: o.Node,
			Cause:  "the log has the call and no answer to it",
			Chain:  append(s.waitersFor(o), s.actor(o)+" waits for "+o.Call+" of "+s.componentName(o)),
			Advice: "look in the driver's log for the last line of this call, and at its backend",
		}
		found = append(found, f)
	}
	return found
})

func (s *Story) componentName(o *Operation) string {
	if o.Volume.Driver != "" {
		return "driver " + o.Volume.Driver
	}
	return "the driver"
}
