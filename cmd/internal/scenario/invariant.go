package scenario

import (
	"cmp"
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario/expression"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// Invariant is a statement that holds at the end of each instant of a run.
type Invariant struct {
	That    Statement `json:"that" want:"required" example:"objects('pods').all(p, p.status.phase != 'Failed')" doc:"A CEL expression over calls, events, elapsed and objects(\"pods\")."`
	Because string    `json:"because,omitempty" doc:"The reason: a section of a specification, or a rule. It is printed when the statement does not hold."`
}

// statementWatch evaluates the statements of always and sometimes at the end of each instant.
type statementWatch struct {
	r        *runner
	evidence *expect.Evidence // separate, because waits use the journal of the run
	looked   bool
	revision uint64
	open     []*watchedStatement
	broken   []*Failure
}

// watchedStatement is a statement that is still undecided: an invariant that has held so far, or a
// statement of sometimes that has not been true yet.
type watchedStatement struct {
	text      string
	line      int
	because   string // of an invariant
	sometimes int    // its number in sometimes, from 1; 0 for an invariant
	compiled  *expression.Expression
}

// watchStatements starts watching the scenario's invariants and its statements of sometimes.
func (r *runner) watchStatements() error {
	s := r.scenario
	if len(s.Always)+len(s.Sometimes) == 0 {
		return nil
	}
	w := &statementWatch{r: r, evidence: r.cluster.Evidence()}
	r.watch = w
	for i, always := range s.Always {
		w.open = append(w.open, &watchedStatement{text: always.That.text, because: always.Because, line: s.lineOf("", "always", i)})
	}
	for i, statement := range s.Sometimes {
		w.open = append(w.open, &watchedStatement{text: statement.text, sometimes: i + 1, line: s.lineOf("", "sometimes", i)})
	}
	for _, statement := range w.open {
		var err error
		if statement.compiled, err = expression.Run(statement.text, celView{r, w.evidence}); err != nil {
			return err
		}
	}
	r.result.Sometimes = make([]bool, len(s.Sometimes))
	r.cluster.EachInstant(w.look)
	return nil
}

// look evaluates the undecided statements, if there is news.
func (w *statementWatch) look() {
	news, revision := w.evidence.Update(), w.evidence.Store.Revision()
	if w.looked && !news && revision == w.revision {
		return
	}
	w.looked, w.revision = true, revision
	view := celView{w.r, w.evidence}
	open := w.open[:0]
	for _, s := range w.open {
		if !w.decides(s, view) {
			open = append(open, s)
		}
	}
	w.open = open
}

// decides reports whether a statement is decided: an invariant has been broken, or a statement of
// sometimes has been true.
func (w *statementWatch) decides(s *watchedStatement, view celView) bool {
	holds, err := s.compiled.Holds(view)
	switch {
	case err != nil:
		w.broken = append(w.broken, &Failure{Verdict: verdict.Of(err), Line: s.line})
	case s.sometimes > 0:
		if holds {
			w.r.result.Sometimes[s.sometimes-1] = true
		}
		return holds
	case !holds:
		w.broken = append(w.broken, &Failure{
			Verdict: verdict.OfStatement(s.text), Line: s.line, Hint: s.because, Expected: "true at every instant",
			Got: fmt.Sprintf("at %v: %s", w.r.elapsed(), cmp.Or(s.compiled.Because(view), "false")),
		})
	default:
		return false
	}
	return true
}

// blameInvariants puts broken invariants before the other failures.
func (r *runner) blameInvariants() {
	if r.watch == nil || r.interrupted() != nil {
		return
	}
	r.watch.look() // the last instant
	later := r.result.Failures
	r.result.Failures = nil
	for _, f := range r.watch.broken {
		r.fail(f, f.Line, 0)
	}
	r.result.Failures = append(r.result.Failures, later...)
}
