package scenario

import (
	"errors"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

func init() {
	register("advance", "Lets virtual time pass.", `advance: 30s`, &advanceStep{})
	register("settle", "Lets virtual time pass until only housekeeping is left. If this never happens, the error names the objects that components keep changing.", `settle: 10m`, &settleStep{})
}

// advanceStep advances virtual time by a span.
type advanceStep struct{ strict.Duration }

func (s *advanceStep) check(c *checker) {
	if s.Duration.Duration == 0 {
		c.report("", "no time", "a duration above 0")
	}
}

func (s *advanceStep) do(r *runner) error { return r.cluster.Advance(s.Duration.Duration) }

// settleStep waits until the cluster is quiet: {} or a limit.
type settleStep struct{ limit time.Duration }

// UnmarshalStrict reads {}, nothing, or a limit.
func (s *settleStep) UnmarshalStrict(n *strict.Node) {
	s.limit = settleLimit
	if n.IsNull() || n.IsMap() && len(n.Entries()) == 0 {
		return
	}
	if _, ok := n.Text(); !ok {
		n.ReportWrong(`{} or a limit of virtual time such as "10m"`)
		return
	}
	var given strict.Duration
	n.Decode(&given)
	s.limit = given.Duration
}

// JSONSchema allows the forms.
func (settleStep) JSONSchema() map[string]any {
	return map[string]any{"anyOf": []any{
		strict.Duration{}.JSONSchema(), map[string]any{"type": "object", "maxProperties": 0}, map[string]any{"type": "null"},
	}}
}

func (s *settleStep) check(*checker) {}

func (s *settleStep) do(r *runner) error {
	err := r.cluster.Settle(s.limit)
	return stuck(err, func(f *Failure) {
		f.Expected = "nothing left to do but housekeeping"
		if waited := (*sim.StuckError)(nil); errors.As(err, &waited) {
			f.Got = strings.Join(waited.Changing, "\n")
		}
		f.About = r.evidence.News(expect.IsFailedCall)
	})
}
