package scenario

import (
	"slices"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/plural"
)

// expectFailure inverts the result: failures that match the pattern were expected and are removed.
func (r *Result) expectFailure(pattern string, s *Scenario) {
	expected := func(f Failure) bool { return partial.Wildcard(pattern, f.Verdict.Text) }
	if slices.ContainsFunc(r.Failures, expected) {
		r.Failures = slices.DeleteFunc(r.Failures, expected)
	} else {
		r.Failures = append(r.Failures, Failure{
			Verdict: verdict.Plain("the scenario did not fail as expected"), File: s.File, Line: s.line("expect"),
			Expected: "a failure " + pattern, Got: plural.Of(len(r.Failures), "other failure"),
		})
	}
	r.Exit = Passed
	if len(r.Failures) > 0 {
		r.Exit = Failed
	}
}
