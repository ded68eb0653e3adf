package expect

import (
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// NeverGone is the form of a verdict on a wait for an object to disappear.
const NeverGone verdict.Form = "never gone"

// NeverCame returns the failure of a wait: the first line of its error, and the waiting processes
// with their conditions.
func NeverCame(err error, expected, got string, waiting []string) *Failure {
	lines := outstanding(waiting)
	if len(lines) == 0 {
		lines = []string{"all components are idle, and wait for a change"}
	}
	return &Failure{
		Verdict: verdict.Of(err), Expected: expected,
		Got: strings.TrimSpace(got + "\ncomponents and their waits:\n" + strings.Join(lines, "\n")),
	}
}

// maxWaiting is the number of waiting processes that a failure lists.
const maxWaiting = 6

// outstanding returns the processes that wait for an answer or a time. All others wait for a
// change, like those in any quiet cluster.
func outstanding(waiting []string) []string {
	var lines []string
	for _, line := range waiting {
		if strings.Contains(line, "(until ") || strings.Contains(line, "answer") {
			lines = append(lines, line)
		}
	}
	return lines[:min(len(lines), maxWaiting)]
}
