package check

import (
	"context"
	"slices"

	"github.com/csisim/csisim/internal/input/partial"
)

// part is one fault of a trial with several faults. If the trial fails, each part becomes a
// separate trial, since the first failure hides the others.
type part struct {
	title, description string
	compose            func(*script)
}

// tryEach composes a scenario with several faults and keeps each fault as a part.
func (p *plan) tryEach(group, title, description string, needs []string, parts []part, whole func(*script)) {
	before := len(p.trials)
	p.try(group, title, description, needs, whole)
	if len(p.trials) > before {
		p.trials[before].plan, p.trials[before].parts = p, parts
	}
}

// one returns the trial of one part of a trial.
func (t *Trial) one(of part) (*Trial, error) {
	p := &plan{facts: t.plan.facts}
	p.try(t.Group, t.Title+"-"+of.title, of.description, nil, of.compose)
	return p.trials[0], p.err
}

// Parts returns the trials of the single faults of a trial; nil for a trial with one fault.
func (t *Trial) Parts() (all []*Trial, err error) {
	return t.partsLike(func(string) bool { return true })
}

func (t *Trial) partsLike(wanted func(name string) bool) (all []*Trial, err error) {
	for _, part := range t.parts {
		if !wanted(t.Name() + "-" + part.title) {
			continue
		}
		one, err := t.one(part)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Fits reports whether one of the patterns matches the trial or one of its parts.
func (t *Trial) Fits(pattern string) bool {
	return partial.Wildcard(pattern, t.Name()) ||
		slices.ContainsFunc(t.parts, func(of part) bool { return partial.Wildcard(pattern, t.Name()+"-"+of.title) })
}

// Chosen returns the trials, and the parts of other trials, that match one of the patterns.
func Chosen(trials []*Trial, patterns []string) (chosen []*Trial, err error) {
	fits := func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool { return partial.Wildcard(pattern, name) })
	}
	for _, t := range trials {
		if fits(t.Name()) {
			chosen = append(chosen, t)
			continue
		}
		parts, err := t.partsLike(fits)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, parts...)
	}
	return chosen, nil
}

// split replaces each failed trial by the parts that together show all findings of its parts. The
// whole trial is kept if it shows more than its parts. If the plain lifecycle of a volume fails, no
// part shows more.
func (r *running) split(ctx context.Context) ([]Outcome, error) {
	outcomes := r.outcomes
	if slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Failed() && o.Name() == "life/"+filesystem }) {
		return outcomes, nil
	}
	var parts []*Trial
	of := map[*Trial]string{} // the name of the whole
	for _, o := range outcomes {
		if !o.Failed() || o.Result == nil {
			continue
		}
		its, err := o.Parts()
		if err != nil {
			return outcomes, err
		}
		for _, t := range its {
			of[t] = o.Name()
		}
		parts = append(parts, its...)
	}
	if len(parts) == 0 {
		return outcomes, nil
	}
	found, err := Run(ctx, parts, r.optionsOfParts(len(parts)))
	var all []Outcome
	for _, o := range outcomes {
		var its []Outcome // each part shows something that the previous parts do not
		for _, one := range found {
			if of[one.Trial] == o.Name() && showsMore(one, its) {
				its = append(its, one)
			}
		}
		if len(its) == 0 || showsMore(o, its) {
			all = append(all, o)
		}
		all = append(all, its...)
	}
	return all, err
}

// shareOfParts divides the budget: parts of failed trials have at least this share of it, although
// they begin last, because each part shows the cause of a failure.
const shareOfParts = 6

// optionsOfParts returns the options for the given number of additional trials.
func (r *running) optionsOfParts(further int) RunOptions {
	o := r.options
	if r.shared != nil {
		o.Parallel = 1
	}
	if o.Budget > 0 {
		o.Budget = max(o.Budget/shareOfParts, o.Budget-r.spent())
	}
	if o.Progress != nil {
		o.Progress = func(p Progress) {
			r.options.Progress(Progress{Ended: r.ended + p.Ended, Planned: r.planned + further, Failed: r.failed + p.Failed, Running: p.Running})
		}
	}
	return o
}

// showsMore reports whether the first outcome has a finding that the others lack.
func showsMore(o Outcome, others []Outcome) bool {
	return slices.ContainsFunc(shownBy(o), func(f Finding) bool {
		return !slices.ContainsFunc(others, func(other Outcome) bool {
			return slices.ContainsFunc(shownBy(other), func(its Finding) bool { return its.Name == f.Name })
		})
	})
}
