package check

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/judge/contract"
	judged "github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Findings returns one finding for each cause. The most harmful come first, then those that more
// trials show. Consequences are reported with their cause.
func (c *Card) Findings() []Finding {
	shown := make([][]Finding, len(c.Outcomes))
	for i, o := range c.Outcomes {
		shown[i] = shownBy(o)
	}
	unite(shown)
	if c.Upgrade != nil {
		c.Upgrade.explain(shown)
	}
	g := gathering{causes: causes(shown)}
	for _, findings := range shown {
		for _, f := range findings {
			if g.causes[f.Name] && !f.follows {
				g.enter(f)
			}
		}
		g.enterThen(findings)
	}
	for i := range g.all {
		g.all[i].Known = c.Known.has(g.all[i].Name)
	}
	slices.SortStableFunc(g.all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Harm, b.Harm), cmp.Compare(a.rank, b.rank), cmp.Compare(len(b.Shown), len(a.Shown)), cmp.Compare(a.Name, b.Name))
	})
	if c.Upgrade != nil {
		g.all = merge(c.Upgrade.split(g.all), failsAlike)
	}
	return g.all
}

// causes returns the names of the findings that are the cause of at least one trial's failure. A
// violation of the CSI spec is always a cause.
func causes(shown [][]Finding) map[string]bool {
	names := map[string]bool{}
	for _, findings := range shown {
		first := causeOf(findings)
		for _, f := range findings {
			if f.rank == findings[first].rank || f.rank == verdict.Breach {
				names[f.Name] = true
			}
		}
	}
	return names
}

// causeOf returns the index of the finding that may have caused all later findings of a trial.
func causeOf(findings []Finding) int {
	return max(0, slices.IndexFunc(findings, func(f Finding) bool { return contract.HasConsequences(f.Verdict) }))
}

// gathering joins the findings of several trials.
type gathering struct {
	causes map[string]bool
	all    []Finding
}

func (g *gathering) find(name string) *Finding {
	if i := slices.IndexFunc(g.all, func(f Finding) bool { return f.Name == name }); i >= 0 {
		return &g.all[i]
	}
	return nil
}

// enter adds the finding of one trial. Among the trials that show its headline, the one with the
// fewest calls describes the finding.
func (g *gathering) enter(f Finding) {
	known := g.find(f.Name)
	if known == nil {
		g.all = append(g.all, f)
		return
	}
	known.rank, known.Harm = min(f.rank, known.rank), min(f.Harm, known.Harm)
	again := known.isShownBy(f.Shown[0].Trial) // in another form of the defect
	if !f.speaksBefore(known) {
		if !again {
			known.Shown = append(known.Shown, f.Shown[0])
		}
		return
	}
	if again {
		known.Shown = slices.DeleteFunc(known.Shown, func(o Outcome) bool { return o.Name() == f.Shown[0].Name() })
	}
	name := known.Name
	known.Verdict, known.Failure, known.found, known.shows = f.Verdict, f.Failure, f.found, f.shows
	known.Name = name
	known.Shown = append([]Outcome{f.Shown[0]}, known.Shown...)
}

// speaksBefore reports whether one finding's trial represents the defect better than the other's.
func (f *Finding) speaksBefore(other *Finding) bool {
	if own, others := f.shows == f.Name, other.shows == other.Name; own != others {
		return own
	}
	if own, others := f.Shown[0].rollsBack(), other.Shown[0].rollsBack(); own != others {
		return others
	}
	return f.Shown[0].calls() < other.Shown[0].calls()
}

// enterThen adds the consequences in a trial to its first cause.
func (g *gathering) enterThen(findings []Finding) {
	for _, f := range findings {
		if g.causes[f.Name] && !f.follows {
			continue
		}
		cause := g.find(findings[causeOf(findings)].Name)
		cause.Harm = min(cause.Harm, f.Harm)
		if !slices.Contains(cause.Then, f.Name) {
			cause.Then = append(cause.Then, f.Name)
		}
	}
}

// form is a form of a defect: a call that fails, a call without an effect, or an answer with fields
// that are empty or that change between answers.
type form struct {
	method, code string
	fields       verdict.Form
}

// formOf returns the common part of two verdicts on one defect: the call and, if it fails, its
// code. If a repeated answer lost a field, the empty field counts as a difference from the first
// answer.
func formOf(v verdict.Verdict, lost fields) (of form, ok bool) {
	call := path.Base(v.Method)
	switch {
	case v.Code != "" && (v.Form == contract.NotIdempotent || v.Form == contract.FailsForGood):
		return form{method: call, code: v.Code}, true
	case v.Form == contract.RequiresIt && lost.has(v.Field):
		return form{method: call, fields: contract.NotIdempotent}, true
	case v.Field != "" && (v.Form == contract.NotIdempotent || v.Form == contract.RequiresIt):
		return form{method: call, fields: v.Form}, true
	case judged.DaemonDied(v): // any call for the volume can show that its daemon has exited
		return form{fields: v.Form}, true
	case v.Form == contract.NoEffect, v.Form == contract.LeavesTarget, v.Form == contract.LeavesMount:
		return form{method: call}, true
	case keepsInline(v): // the mount, the effect of the call, can be undone
		return form{}, false
	case v.Kind != "" && v.Undo != "" && !v.Is(verdict.Undone):
		// The call leaves something behind.
		return form{method: v.Undo, code: failed(v)}, true
	}
	return form{}, false
}

// keepsInline reports whether an inline volume stays in the backend although its unpublishing
// succeeded.
func keepsInline(v verdict.Verdict) bool {
	return v.Kind == string(ledger.Volume) && v.Undo == "NodeUnpublishVolume" && failed(v) == ""
}

// failed returns the code with which the call of a verdict failed; empty if it succeeded.
func failed(v verdict.Verdict) string {
	if v.Code == codes.OK.String() {
		return ""
	}
	return v.Code
}

// fields are fields of answers, such as CreateVolumeResponse.volume.volume_context, and messages
// within them.
type fields map[string]bool

func (f fields) has(field string) bool { return f[field] || f[message(field)] }

// message returns the message that has a field, as CreateVolumeResponse.volume.
func message(field string) string { return field[:max(0, strings.LastIndexByte(field, '.'))] }

// lostFields returns the fields in which a repeated answer differs from the first one. It also
// returns the messages in which such a field is empty. A verdict on a repeated answer names only
// its first field.
func lostFields(shown [][]Finding) fields {
	lost := fields{}
	each := func(form verdict.Form, do func(verdict.Verdict)) {
		for _, findings := range shown {
			for _, f := range findings {
				if f.Form == form && f.Field != "" {
					do(f.Verdict)
				}
			}
		}
	}
	each(contract.NotIdempotent, func(v verdict.Verdict) { lost[path.Base(v.Method)+"Response."+v.Field] = true })
	each(contract.RequiresIt, func(v verdict.Verdict) {
		if lost[v.Field] {
			lost[message(v.Field)] = true
		}
	})
	return lost
}

// unite gives the same name to both forms of a defect. A call that is not idempotent: its forms are
// a wrong answer to a repeated call, and a call that was repeated because its caller got no answer.
// A call without effect: its forms are leftovers at once, and leftovers at the end. An answer with
// several wrong fields: they are empty, or differ from the first answer.
func unite(shown [][]Finding) {
	names, lost := map[form]string{}, lostFields(shown)
	each := func(do func(f *Finding, of form, direct bool)) {
		for _, findings := range shown {
			for i := range findings {
				v := findings[i].Verdict
				if of, ok := formOf(v, lost); ok {
					do(&findings[i], of, v.Form != contract.FailsForGood && v.Kind == "" && !lost.has(v.Field))
				}
			}
		}
	}
	each(func(f *Finding, of form, direct bool) {
		if direct && (names[of] == "" || of.fields == "") {
			names[of] = f.Name
		}
	})
	each(func(f *Finding, of form, direct bool) {
		if name := names[of]; (!direct || of.fields != "") && name != "" {
			f.Name = name
		}
	})
}

// FindingsOf returns the findings of a card that a trial shows.
func FindingsOf(all []Finding, t *Trial) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !f.isShownBy(t) })
}

func (f *Finding) isShownBy(t *Trial) bool {
	return slices.ContainsFunc(f.Shown, func(o Outcome) bool { return o.Name() == t.Name() })
}

// OnlyKnown reports whether a trial failed only with known findings.
func OnlyKnown(all []Finding, t *Trial) bool {
	found := FindingsOf(all, t)
	return len(found) > 0 && !slices.ContainsFunc(found, func(f Finding) bool { return !f.Known })
}
