package load

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/world/plural"
)

// Finding is a property of a driver under load that its author has to know.
type Finding struct {
	// Name identifies it over runs: "grows/NodePublishVolume".
	Name string `json:"name"`
	Text string `json:"text"`
	// Details are further lines: the end of a log, an error.
	Details []string `json:"details,omitempty"`
}

// Findings judges the result, the worst first.
func (r *Result) Findings() (all []Finding) {
	if r.Largest() == nil {
		return nil
	}
	for _, judge := range []func(*Result) []Finding{deaths, stuck, timeouts, growths, slowStarts, serialized, statistics, leaks} {
		all = append(all, judge(r)...)
	}
	return all
}

func deaths(r *Result) (all []Finding) {
	for _, l := range r.Levels {
		for _, run := range l.Runs {
			for _, d := range run.Died {
				return []Finding{{"died", fmt.Sprintf("the driver died with %s: %s", volumes(l.Volumes), d.Text), d.Log}}
			}
		}
	}
	return nil
}

func stuck(r *Result) []Finding {
	for _, l := range r.Levels {
		for _, run := range l.Runs {
			if run.Stuck != "" && len(run.Died) == 0 {
				return []Finding{{Name: "stuck", Text: fmt.Sprintf("with %s, %s of cluster time did not suffice for %s", volumes(l.Volumes), r.Plan.Limit, run.Stuck), Details: r.Repeated()}}
			}
		}
	}
	return nil
}

// timeout is the code of a call that was not answered before its deadline.
const timeout = "DeadlineExceeded"

// timeouts finds calls that were not answered in time, at the largest level with such calls.
func timeouts(r *Result) (all []Finding) {
	for _, method := range r.Methods() {
		for _, l := range slices.Backward(r.Levels) {
			if s := l.Of(method); s.Errors[timeout] > 0 {
				all = append(all, Finding{Name: "fails/" + method + "/" + timeout, Text: fmt.Sprintf("%d of %d %s calls timed out and were repeated, with %s", s.Errors[timeout], s.Count, method, volumes(l.Volumes))})
				break
			}
		}
	}
	return all
}

// Repeated describes the calls of the largest level that failed in another way and were repeated. A
// driver may refuse a call while a job runs, or until another call has been made.
func (r *Result) Repeated() (lines []string) {
	l := r.Largest()
	if l == nil {
		return nil
	}
	for _, method := range r.Methods() {
		s := l.Of(method)
		for _, code := range sorted(s.Errors) {
			if code != timeout {
				lines = append(lines, fmt.Sprintf("%d of %d %s calls failed with %s and were repeated, with %s: %s", s.Errors[code], s.Count, method, code, volumes(l.Volumes), l.message(method, code)))
			}
		}
	}
	return lines
}

func sorted(counts map[string]int) (codes []string) {
	for code := range counts {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// message returns the error of the first call that failed with a code.
func (l Level) message(method, code string) string {
	for _, run := range l.Runs {
		if c := run.Calls[method]; c != nil && c.Messages[code] != "" {
			return c.Messages[code]
		}
	}
	return ""
}

// slowStatistics is the duration of NodeGetVolumeStats, in milliseconds, from which it is reported.
// The kubelet calls it once a minute for each volume. K-STAT-1
const slowStatistics = 100

func statistics(r *Result) []Finding {
	s := r.Largest().Of("NodeGetVolumeStats")
	if s.Count == 0 || s.P50 < slowStatistics || r.serialized(s.Method) != "" || r.oneAtATime() != nil {
		return nil
	}
	onNode := (r.Largest().Volumes + r.Plan.Nodes - 1) / r.Plan.Nodes
	return []Finding{{Name: "slow/NodeGetVolumeStats", Text: fmt.Sprintf("NodeGetVolumeStats takes %s, and the kubelet calls it once a minute for each of the %s on a node", Millis(s.P50), volumes(onNode))}}
}

func volumes(n int) string { return plural.Of(n, "volume") }

// count writes a large number with separators.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
}

// Millis writes a time in milliseconds with three digits.
func Millis(ms float64) string {
	switch {
	case ms == 0:
		return "0"
	case ms >= 9999.5:
		return fmt.Sprintf("%.0f s", ms/1e3)
	case ms >= 999.5:
		return fmt.Sprintf("%.1f s", ms/1e3)
	case ms >= 99.5:
		return fmt.Sprintf("%.0f ms", ms)
	case ms >= 9.95:
		return fmt.Sprintf("%.1f ms", ms)
	}
	return fmt.Sprintf("%.2f ms", ms)
}
