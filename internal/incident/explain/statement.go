package explain

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/version"
)

// statement is a rule of the specification or a known hazard of Kubernetes, with the findings to
// which it applies.
type statement struct {
	// ids are its numbers in docs/spec, and says is its content in one sentence.
	ids, says string
	of        about
	// shown reports whether other lines show that it applies. It is nil if the finding alone is
	// sufficient.
	shown func(*Story, *Finding) bool
	// isHazard marks a behaviour of Kubernetes that delays or prevents the effect although no
	// component is broken.
	isHazard bool
	// changed is the release that changed the behaviour.
	changed version.Entry
}

// about selects findings.
type about struct {
	// checks are the names of the rules that make the findings.
	checks []string
	// kinds are the operations of the findings. words are parts of their texts, of which one is
	// sufficient. An empty list matches all.
	kinds, words []string
	// failures is the number of failures from which the statement applies.
	failures int
}

// cite adds the statements that apply to a finding, and the releases that changed them.
func (s *Story) cite(f *Finding) {
	for i := range statements {
		st := &statements[i]
		if !st.of.includes(f) || st.shown != nil && !st.shown(s, f) {
			continue
		}
		switch {
		case st.says == "":
		case st.isHazard:
			f.Hazards = append(f.Hazards, st.ids+": "+st.says+"  ["+string(st.certainty())+"]")
		default:
			f.Rules = append(f.Rules, st.ids+": "+st.says)
		}
		if text := s.releaseWords(st.changed); text != "" {
			f.Releases = append(f.Releases, text)
		}
	}
}

// certainty returns the certainty that a hazard caused a finding. Other lines only make it likely.
func (st *statement) certainty() Certainty {
	if st.shown != nil {
		return Likely
	}
	return Certain
}

func (a *about) includes(f *Finding) bool {
	if !slices.Contains(a.checks, f.Rule) && (f.because == nil || !slices.Contains(a.checks, fails)) {
		return false
	}
	of := f.operations()
	isOf := func(o *Operation) bool { return slices.Contains(a.kinds, o.Kind) }
	hasFailed := func(o *Operation) bool { return o.Failures >= a.failures }
	return (len(a.kinds) == 0 || slices.ContainsFunc(of, isOf)) &&
		(a.failures == 0 || slices.ContainsFunc(of, hasFailed)) &&
		(len(a.words) == 0 || slices.ContainsFunc(a.words, f.mentions))
}

// operations returns the operations of a finding.
func (f *Finding) operations() (all []*Operation) {
	for _, o := range []*Operation{f.of, f.because, f.open} {
		if o != nil {
			all = append(all, o)
		}
	}
	return all
}

// mentions reports whether the texts of a finding, or the errors of its operations, contain the
// word.
func (f *Finding) mentions(word string) bool {
	return strings.Contains(f.Title, word) || strings.Contains(f.Cause, word) || slices.ContainsFunc(f.operations(), func(o *Operation) bool {
		return o.Code == word || strings.Contains(o.Error, word)
	})
}
