package check

import (
	"fmt"
	"io"
	"os"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// Known is a baseline of known findings of a driver, which do not fail a check.
type Known struct {
	APIVersion string         `json:"apiVersion" yaml:"apiVersion" want:"required" enum:"csisim.dev/v1alpha1" doc:"The version of the file's language."`
	Kind       string         `json:"kind" yaml:"kind" want:"required" enum:"KnownFindings" doc:"Always KnownFindings."`
	Driver     string         `json:"driver" yaml:"driver" want:"required" example:"nfs.csi.k8s.io" doc:"The driver's name."`
	Findings   []KnownFinding `json:"findings,omitempty" yaml:"findings" doc:"The findings that are known."`
}

// KnownFinding is one known finding.
type KnownFinding struct {
	Name   string   `json:"name" yaml:"name" want:"required" example:"NodeStageVolume is not idempotent: OK, then Internal" doc:"The name of the finding in the report card; * stands for any text."`
	Why    string   `json:"why,omitempty" yaml:"why,omitempty" doc:"Why it stays, for people."`
	Trials []string `json:"trials,omitempty" yaml:"trials,flow,omitempty" doc:"The scenarios that showed it: if some of them are tried and none shows it, it has been fixed."`
}

// ReadKnown reads a baseline. If the file can be read, the error is strict.Problems with all its
// mistakes.
func ReadKnown(file string) (*Known, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read known findings: %w", err)
	}
	k := &Known{}
	if _, problems := strict.Decode(file, text, k); len(problems) > 0 {
		return nil, problems
	}
	return k, nil
}

func (k *Known) has(name string) bool {
	return k != nil && slices.ContainsFunc(k.Findings, func(f KnownFinding) bool { return f.is(name) })
}

// is reports whether the finding has the name. Names in files of earlier versions have fewer words.
// Therefore the general forms of both names are compared, too.
func (f KnownFinding) is(name string) bool {
	return f.Name == name || partial.Wildcard(f.Name, name) || verdict.Plain(f.Name).Name == verdict.Plain(name).Name
}

// Gone returns the known findings that no trial shows any more, although at least one of their
// trials ran.
func (c *Card) Gone() []KnownFinding {
	if c.Known == nil {
		return nil
	}
	found := c.Findings()
	var gone []KnownFinding
	for _, k := range c.Known.Findings {
		shown := slices.ContainsFunc(found, func(f Finding) bool { return k.is(f.Name) })
		if !shown && c.triedAny(k.Trials) {
			gone = append(gone, k)
		}
	}
	return gone
}

// triedAny reports whether at least one of the trials was tried; without names it considers all
// trials.
func (c *Card) triedAny(names []string) bool {
	return slices.ContainsFunc(c.Outcomes, func(o Outcome) bool {
		return o.Tried() && (len(names) == 0 || slices.Contains(names, o.Name()))
	})
}

// WriteKnown writes the findings of the card as a baseline. Known findings of trials that were not
// run stay in it with their reasons.
func (c *Card) WriteKnown(w io.Writer, before *Known) error {
	k := Known{APIVersion: "csisim.dev/v1alpha1", Kind: "KnownFindings", Driver: c.Facts.Name, Findings: []KnownFinding{}}
	found := c.Findings()
	for _, f := range found {
		entry := KnownFinding{Name: f.Name}
		for _, o := range f.Shown {
			entry.Trials = append(entry.Trials, o.Name())
		}
		slices.Sort(entry.Trials)
		if before != nil {
			if i := slices.IndexFunc(before.Findings, func(b KnownFinding) bool { return b.is(f.Name) }); i >= 0 {
				entry.Why = before.Findings[i].Why
			}
		}
		k.Findings = append(k.Findings, entry)
	}
	if before != nil {
		for _, b := range before.Findings {
			if !slices.ContainsFunc(found, func(f Finding) bool { return b.is(f.Name) }) && !c.triedAny(b.Trials) {
				k.Findings = append(k.Findings, b)
			}
		}
	}
	if _, err := io.WriteString(w, "# Findings that csisim check --known lets pass; csisim check --write-known writes this file.\n"); err != nil {
		return err
	}
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	return encoder.Encode(k)
}
