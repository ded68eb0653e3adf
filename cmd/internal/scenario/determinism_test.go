package scenario

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/trace"
)

func step(message string) *trace.Event {
	return trace.Entry{Kind: trace.Step, Message: message}.Event()
}

func TestTracesAreComparedLineByLine(t *testing.T) {
	later := step("two")
	later.At = time.Nanosecond // a line has milliseconds
	for name, c := range map[string]struct {
		first, second []*trace.Event
		want          string // "" if they are equal
	}{
		"equal":                  {[]*trace.Event{step("one"), step("two")}, []*trace.Event{step("one"), step("two")}, ""},
		"of equal lines":         {[]*trace.Event{step("one"), step("two")}, []*trace.Event{step("one"), later}, ""},
		"different":              {[]*trace.Event{step("one"), step("two")}, []*trace.Event{step("one"), step("three")}, "the traces differ in line 2\n  first run:  {\"t\":0,\"k\":\"step\",\"msg\":\"two\"}\n  second run: {\"t\":0,\"k\":\"step\",\"msg\":\"three\"}"},
		"the second one shorter": {[]*trace.Event{step("one"), step("two")}, []*trace.Event{step("one")}, "line 2\n  first run:  {\"t\":0,\"k\":\"step\",\"msg\":\"two\"}\n  second run: "},
		"the second one longer":  {[]*trace.Event{step("one")}, []*trace.Event{step("one"), step("two")}, "line 2\n  first run:  \n  second run: {\"t\":0,\"k\":\"step\",\"msg\":\"two\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			var both traces
			for _, e := range c.first {
				both.keep(e)
			}
			for _, e := range c.second {
				both.compare(e)
			}
			if c.want == "" {
				require.NoError(t, both.end())
				return
			}
			assert.ErrorContains(t, both.end(), c.want)
		})
	}
}
