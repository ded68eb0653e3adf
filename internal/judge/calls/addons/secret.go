package addons

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// secrets checks the invariant that no message shows a secret of a request. The trace already
// contains these secrets in redacted form.
func (c *Check) secrets(call *trace.Event) {
	if strings.Contains(call.Message, trace.Redacted) {
		c.breach(call, "shows a secret", verdict.Say("its message has a value of the request's secrets").Aside(": %s", call.Message))
	}
}
