package explore

import (
	"context"

	"github.com/csisim/csisim/internal/world/kernel"
)

// maker makes runs of a search sequentially.
type maker interface {
	make(ctx context.Context, run uint64, c course) (made, error)
	close()
}

// made is the result of a run.
type made struct {
	// Shown is the first finding of the run; its name is empty if the run passed.
	Shown Shown
	// Points are the decisions at which a guide can put faults.
	Points []point
	// States are the states that the run has reached, and Happened its faults.
	States   []string
	Happened []Choice
	// Compared is set if the run was made twice for the sample, and Difference describes the
	// difference between both runs.
	Compared   bool
	Difference string

	enumerated *enumerated // for an enumeration
}

// makers returns the makers of all jobs.
func (s *Search) makers() (all []maker, err error) {
	for range s.options.Jobs {
		m, err := s.maker()
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}

func closeAll(makers []maker) {
	for _, m := range makers {
		m.close()
	}
}

func (s *Search) maker() (maker, error) {
	if s.options.Elsewhere != nil && s.plan.enumeration == nil {
		return s.elsewhere()
	}
	subject, err := s.fresh()
	return &here{plan: s.plan, subject: subject}, err
}

// here makes runs in this process.
type here struct {
	plan    *plan
	subject Subject
	stacks  kernel.Stacks
}

func (h *here) make(ctx context.Context, run uint64, c course) (made, error) {
	strategy := h.plan.strategy(c)
	faults := newFaultWatch(strategy)
	outcome, made, err := h.run(ctx, run, c, faults.strategy())
	if err != nil {
		return made, err
	}
	made.Happened = faults.happened
	made.note(strategy, outcome)
	return made, nil
}

func (h *here) close() { h.stacks.Close() }

// note records the finding of the run, and the data for a guide.
func (m *made) note(strategy kernel.Strategy, o Outcome) {
	switch s := strategy.(type) {
	case *enumerated:
		m.enumerated = s
	case *surveyed:
		s.reduce()
		m.enumerated, s.survey = s.enumerated, survey{}
	}
	m.States = statesOf(o.Trace)
	s, isSteered := strategy.(*steered)
	if isSteered {
		m.States = append(m.States, s.views.states...)
	}
	if len(o.Shown) > 0 {
		m.Shown = o.Shown[0]
		return
	}
	if isSteered {
		m.Points = s.points()
	}
}
