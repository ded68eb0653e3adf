package check

import (
	"cmp"
	"slices"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/contract"
	judged "github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Remark is a violation of a rule of the CSI spec that does not affect Kubernetes.
type Remark struct {
	// Verdict comes from the first trial that shows the remark.
	verdict.Verdict
	Shown []Outcome
}

// Remarks returns the remarks of all trials, one for each kind, in the order of the card.
func (c *Card) Remarks() []Remark {
	var all []Remark
	for _, o := range c.Outcomes {
		for _, v := range remarksOn(o) {
			i := slices.IndexFunc(all, func(r Remark) bool { return r.Name == v.Name })
			if i < 0 {
				all = append(all, Remark{Verdict: v})
				i = len(all) - 1
			}
			if !slices.ContainsFunc(all[i].Shown, func(other Outcome) bool { return other.Name() == o.Name() }) {
				all[i].Shown = append(all[i].Shown, o)
			}
		}
	}
	return slices.DeleteFunc(all, func(r Remark) bool { return r.isSingle() || c.follows(r) })
}

// follows reports whether a remark is the consequence of a finding: for example, a driver that
// shrinks a volume also reports the smaller size.
func (c *Card) follows(r Remark) bool {
	return r.Form == contract.AnswersLess &&
		slices.ContainsFunc(c.Findings(), func(f Finding) bool { return f.Form == contract.MakesSmaller })
}

// isSingle reports whether an unexplained error occurred only once. The machine may have caused the
// error: a mount is busy for a moment while another process creates a mount namespace.
func (r Remark) isSingle() bool {
	return calls.IsSpontaneous(r.Verdict) && r.More == 0 && len(r.Shown) == 1
}

func remarksOn(o Outcome) (all []verdict.Verdict) {
	if o.Result == nil {
		return nil
	}
	for _, e := range o.Result.Trace {
		if v, judged := verdict.OfEvent(e.Detail, e.Message); judged && e.Kind == trace.Remark {
			all = append(all, v)
		}
	}
	return slices.Concat(all, calls.ClearedUp(o.Result.Trace), calls.StaysMounted(o.Result.Trace))
}

// remarks prints the remarks as notes, which do not fail a trial.
func (p *page) remarks(c *Card) {
	for _, r := range c.Remarks() {
		p.WriteByte('\n')
		p.text(p.paint(dim, "note")+" ", "     ", headline(r.Text))
		for _, row := range [][2]string{
			{"shown by", namesOf(r.Shown)}, {"why", cmp.Or(contract.Advice(r.Verdict), calls.Advice(r.Verdict), judged.Advice(r.Verdict))}, {"strict", strictly(r.Verdict)},
		} {
			p.labelled(row[0], row[1])
		}
	}
}

// strictly returns the effect of --strict on a remark; empty for none.
func strictly(v verdict.Verdict) string {
	if calls.IsNoted(v) {
		return ""
	}
	return "--strict makes it a failure"
}
