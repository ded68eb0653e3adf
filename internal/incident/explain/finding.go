package explain

import (
	"cmp"
	"slices"
	"time"
)

// Certainty is the certainty of a finding.
type Certainty string

// The certainties.
const (
	// Certain: a line of the logs states it.
	Certain Certainty = "certain"
	// Likely: it follows from lines, or from missing lines in an existing log.
	Likely Certainty = "likely"
	// Unknown: the log that would show it is missing.
	Unknown Certainty = "unknown"
)

// Finding is something that is stuck or wrong.
type Finding struct {
	// Title is one sentence about the problem. Rule names the check that found it.
	Title string
	Rule  string
	// Component holds the volume; empty if it is unknown.
	Component string
	Certainty Certainty
	// Since is the time of its first event, and Until the time of its last event.
	Since, Until time.Duration
	// Chain lists components in the order in which they wait: the first one waits for the second.
	Chain []string
	// Cause is the reason, in the words of the logs.
	Cause string
	// Rules cite the specification, each with a sentence. Hazards are known behaviours of
	// Kubernetes that cause the finding, each with its certainty.
	Rules, Hazards []string
	// Releases are changes of Kubernetes since the release of the cluster that concern the finding.
	Releases []string
	// Advice is the next step.
	Advice string
	// Seen are the first and the last event.
	Seen []Place
	// volume and node name the subject, by which findings are merged.
	volume *Volume
	node   string
	rank   int
	// holder is the node that has the volume. object is the object that stays or has failed.
	holder string
	object map[string]any
	// of is the operation of the finding, because is its cause, and open contains a call that has
	// not returned. Each is nil if there is none.
	of, because, open *Operation
}

// Report is the result of explaining a trace.
type Report struct {
	Began    time.Time
	Ended    time.Duration
	Findings []Finding
	// Collect lists the missing logs, each with the command that prints it.
	Collect []Missing
	// Sources counts the lines of each program.
	Sources map[string]int
}

// Missing is a log that would help.
type Missing struct{ What, Why, Command string }

// rules find the problems of a story. Each rule is registered by a separate file.
var rules []rule

type rule struct {
	name string
	// rank orders findings: causes before their consequences.
	rank int
	find func(*Story) []Finding
}

func register(name string, rank int, find func(*Story) []Finding) bool {
	rules = append(rules, rule{name, rank, find})
	return true
}

// Explain returns the findings of a story.
func (s *Story) Explain() *Report {
	s.settle()
	r := &Report{Began: s.Began, Ended: s.Ended, Sources: s.Sources}
	for _, rule := range rules {
		for _, f := range rule.find(s) {
			f.Rule, f.rank = rule.name, rule.rank
			r.Findings = append(r.Findings, f)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Or(a.rank-b.rank, cmp.Compare(a.Since, b.Since)) })
	r.Findings = withoutConsequences(r.Findings)
	for i := range r.Findings {
		s.cite(&r.Findings[i])
	}
	r.Collect = s.missing(r.Findings)
	return r
}

// withoutConsequences leaves out a finding that another one explains, because the cause of an
// earlier finding holds the same volume.
func withoutConsequences(all []Finding) (kept []Finding) {
	for _, f := range all {
		explained := slices.ContainsFunc(kept, func(k Finding) bool {
			if k.because != nil && k.because == f.of && k.rank < f.rank {
				return true
			}
			return k.volume != nil && k.volume == f.volume && k.node == f.node && k.rank < f.rank && f.Rule != "pod-waits" && k.Rule != f.Rule && f.rank >= consequence
		})
		if !explained {
			kept = append(kept, f)
		}
	}
	return kept
}

// The ranks of rules.
const (
	cause       = 10
	failing     = 20
	consequence = 30
	remark      = 40
)
