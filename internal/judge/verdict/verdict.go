// Package verdict holds the value that every check of a run produces: one thing that is wrong. The
// value names the broken invariant and its subject. Its text is rendered when it is created. The
// text is for people, and no code reads it.
package verdict

import (
	"errors"
	"slices"
	"strings"
)

// Verdict is one thing that is wrong in a run, or a remark on it.
type Verdict struct {
	// Breaks is the key of the broken invariant. It is empty for an error, and for an unmet
	// expectation of a single scenario.
	Breaks Key `json:"breaks,omitempty"`
	// Form is the way in which the invariant is broken.
	Form Form `json:"form,omitempty"`
	// Method is the CSI method of the verdict, such as "Node/NodeStageVolume".
	Method string `json:"method,omitempty"`
	// Field is the field of a message, such as "CreateVolumeResponse.volume.volume_id".
	Field string `json:"field,omitempty"`
	// Code is the name of the gRPC code with which the call failed.
	Code string `json:"code,omitempty"`
	// Kind is the kind of a leftover, and Undo the short name of the call that removes such
	// leftovers.
	Kind string `json:"kind,omitempty"`
	Undo string `json:"undo,omitempty"`
	// Node is the node on which it happened.
	Node string `json:"node,omitempty"`
	// Found are the lines that show it, such as mounts.
	Found []string `json:"found,omitempty"`
	// More is the number of further verdicts of its kind.
	More int `json:"more,omitempty"`
	// Event is the number of the event that shows it; 0 for none.
	Event uint64 `json:"event,omitempty"`
	// Name is the same in every run that shows it.
	Name string `json:"name"`
	// Text is the verdict in words, on one line unless it quotes others.
	Text string `json:"-"`
	// Remark is set if nothing in Kubernetes depends on it.
	Remark bool `json:"remark,omitempty"`
}

// Form is the way in which an invariant is broken: the constant words of its sentence. Packages
// that judge declare theirs as constants and compare them for equality.
type Form string

// String returns the verdict in words.
func (v Verdict) String() string { return v.Text }

// IsZero reports whether there is no verdict.
func (v Verdict) IsZero() bool { return v.Text == "" && v.Name == "" }

// Rank returns the rank of the broken invariant. If the verdict breaks none, it returns otherwise.
func (v Verdict) Rank(otherwise Rank) Rank {
	if in := v.Breaks.Invariant(); in != nil {
		return in.Rank
	}
	return otherwise
}

// Blame returns the party that is responsible according to the verdict itself.
func (v Verdict) Blame() Blame {
	if in := v.Breaks.Invariant(); in != nil {
		return in.Blame
	}
	return Scenario
}

// Is reports whether the verdict breaks one of the invariants.
func (v Verdict) Is(keys ...Key) bool { return slices.Contains(keys, v.Breaks) }

// Worded returns the verdict with its text and its name.
func (v Verdict) Worded(s Sentence) Verdict {
	v.Text, v.Name = s.Text, tidy(s.name)
	return v
}

// Renamed returns the verdict after applying a function to its text, for example a function that
// hides the random parts of paths.
func (v Verdict) Renamed(rename func(string) string) Verdict {
	v.Text = rename(v.Text)
	if len(v.Found) > 0 {
		v.Found = slices.Clone(v.Found)
		for i := range v.Found {
			v.Found[i] = rename(v.Found[i])
		}
	}
	return v
}

// Plain returns a verdict that breaks no invariant: an error, or an unmet expectation of a single
// scenario.
func Plain(text string) Verdict {
	return Verdict{}.Worded(Sentence{Text: text, name: general(text)})
}

// Under returns the verdict with a title before its text and its name.
func (v Verdict) Under(title string) Verdict {
	v.Text, v.Name = title+": "+v.Text, title+": "+v.Name
	return v
}

// Of returns the verdict of an error. If the error has none, it returns a verdict with the first
// line of the error's text.
func Of(err error) Verdict {
	var judged interface{ Verdict() Verdict }
	if errors.As(err, &judged) {
		return judged.Verdict()
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return Plain(first)
}
