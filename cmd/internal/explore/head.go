package explore

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
)

// Head is the common part of replays and corpora: the scenario, and the faults of its runs.
type Head struct {
	APIVersion string       `json:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The version of the format."`
	Scenario   string       `json:"scenario" want:"required" doc:"The scenario's file: its name in a corpus, its path from the replay's own directory in a replay."`
	Digest     string       `json:"digest" want:"required" doc:"SHA-256 of the scenario's text when the file was written."`
	Faults     []fault.Kind `json:"faults,omitempty" doc:"The kinds of faults that may happen."`
	Budget     int          `json:"budget,omitempty" doc:"How many faults a run may have."`
}

// headOf returns the head of a file about a scenario.
func headOf(scenario string, text []byte, space fault.Space) Head {
	return Head{APIVersion: "csisim.dev/v1alpha1", Scenario: scenario, Digest: Digest(text), Faults: space.Kinds, Budget: space.Budget}
}

// Digest returns the digest of a scenario's text.
func Digest(text []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(text)) }

// Space returns the fault space of the runs.
func (h *Head) Space() fault.Space { return fault.Space{Kinds: h.Faults, Budget: h.Budget} }

func (h *Head) head() *Head { return h }

// content is a file with a head.
type content interface {
	head() *Head
	// choices returns the lists of choices, by their fields.
	choices() iter.Seq2[string, []explore.Choice]
}

// load reads a file. Users may have changed it. Errors begin with the given name of the kind.
func load(what, name string, into content) error {
	text, err := strict.ReadFile(name)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	var is struct{ Kind string }
	if yaml.Unmarshal(text, &is) == nil && is.Kind == "Scenario" {
		return fmt.Errorf("%s is a scenario, no %s: csisim run runs it, csisim explore searches its runs", name, what)
	}
	document, problems := strict.Decode(name, text, into)
	if document == nil || len(problems) > 0 {
		return problems
	}
	for i, k := range into.head().Faults {
		if !slices.Contains(fault.Kinds(), k) {
			document.ReportUnknown(strict.Index("faults", i), fmt.Sprintf("fault %q", k), string(k), "one of "+KindNames(), words())
		}
	}
	for field, choices := range into.choices() {
		for i, c := range choices {
			if c.Nth < 1 {
				document.Report(strict.Key(strict.Index(field, i), "nth"), fmt.Sprint(c.Nth), "a number from 1")
			}
		}
	}
	if problems := document.Problems(); len(problems) > 0 {
		return problems
	}
	return nil
}

// KindNames lists the kinds of faults.
func KindNames() string { return strings.Join(words(), ", ") }

func words() []string {
	var all []string
	for _, k := range fault.Kinds() {
		all = append(all, string(k))
	}
	return all
}
