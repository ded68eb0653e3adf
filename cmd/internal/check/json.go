package check

import (
	"encoding/json"
	"io"
)

type jsonCard struct {
	Driver       string              `json:"driver"`
	Version      string              `json:"version,omitempty"`
	Upgrade      *jsonUpgrade        `json:"upgrade,omitempty"`
	Capabilities map[string][]string `json:"capabilities"`
	Passed       int                 `json:"passed"`
	Failed       int                 `json:"failed"`
	Known        int                 `json:"known,omitempty"` // with only known findings
	NotTried     int                 `json:"notTried"`
	Calls        int                 `json:"calls"`
	ClusterTime  float64             `json:"clusterSeconds"`
	Took         float64             `json:"seconds"`
	Waited       map[string]float64  `json:"waitedSeconds,omitempty"` // by kind of work
	Findings     []jsonFinding       `json:"findings"`
	Notes        []jsonNote          `json:"notes,omitempty"`
	Gone         []string            `json:"gone,omitempty"`
	Disturbed    string              `json:"disturbed,omitempty"`
	Trials       []jsonTrial         `json:"trials"`
	NotOffered   []jsonReason        `json:"notOffered,omitempty"`
}

// jsonUpgrade describes the release that the driver replaces.
type jsonUpgrade struct {
	From        string       `json:"from"` // its version
	Differences []Difference `json:"differences"`
}

type jsonFinding struct {
	Name    string   `json:"name"`
	Known   bool     `json:"known,omitempty"`
	Release Release  `json:"release,omitempty"` // the release that alone shows the finding
	Harm    string   `json:"harm"`
	Verdict string   `json:"verdict"`
	ShownBy []string `json:"shownBy"`
	Then    []string `json:"then,omitempty"`
	Replay  string   `json:"replay,omitempty"`
}

type jsonNote struct {
	Name    string   `json:"name"`
	Verdict string   `json:"verdict"`
	ShownBy []string `json:"shownBy"`
}

type jsonReason struct {
	Why    string   `json:"why"`
	Trials []string `json:"trials"`
}

type jsonTrial struct {
	Name        string        `json:"name"`
	Group       string        `json:"group"`
	Outcome     string        `json:"outcome"`
	Why         string        `json:"why,omitempty"`
	Cause       Cause         `json:"cause,omitempty"`
	Findings    []string      `json:"findings,omitempty"`
	Failures    []jsonFailure `json:"failures,omitempty"`
	Runs        int           `json:"runs,omitempty"`
	Hazards     []string      `json:"hazards,omitempty"`
	Replay      string        `json:"replay,omitempty"`
	Calls       int           `json:"calls,omitempty"`
	ClusterTime float64       `json:"clusterSeconds,omitempty"`
	Took        float64       `json:"seconds,omitempty"`
}

type jsonFailure struct {
	Verdict  string `json:"verdict"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Spec     string `json:"spec,omitempty"`
}

// JSON writes the card for programs.
func (c *Card) JSON(w io.Writer) error {
	f, t := c.Facts, c.Totals()
	card := jsonCard{
		Driver: f.Name, Version: f.Version,
		Capabilities: map[string][]string{"plugin": f.Plugin, "controller": f.Controller, "group": f.Group, "node": f.Node},
		Passed:       t.Passed, Failed: t.Failed, Known: t.Known, NotTried: t.NotTried, Calls: t.Calls,
		ClusterTime: t.ClusterTime.Seconds(), Took: c.Took.Seconds(), Findings: []jsonFinding{}, Trials: []jsonTrial{},
	}
	if u := c.Upgrade; u != nil {
		card.Upgrade = &jsonUpgrade{From: u.Old.Version, Differences: append([]Difference{}, u.Differences()...)}
	}
	for _, w := range c.Waits {
		if card.Waited == nil {
			card.Waited = map[string]float64{}
		}
		card.Waited[w.For] = w.Took.Seconds()
	}
	found := c.Findings()
	for _, f := range found {
		one := jsonFinding{Name: f.Name, Known: f.Known, Release: f.Release, Harm: f.Harm.String(), Verdict: f.Text, Then: f.Then, Replay: c.replayOf(f)}
		for _, o := range f.Shown {
			one.ShownBy = append(one.ShownBy, o.Name())
		}
		card.Findings = append(card.Findings, one)
	}
	for _, r := range c.Remarks() {
		note := jsonNote{Name: r.Name, Verdict: r.Text}
		for _, o := range r.Shown {
			note.ShownBy = append(note.ShownBy, o.Name())
		}
		card.Notes = append(card.Notes, note)
	}
	if c.Shared != nil {
		card.Disturbed = c.Shared.String()
	}
	for _, k := range c.Gone() {
		card.Gone = append(card.Gone, k.Name)
	}
	for _, o := range c.Outcomes {
		if o.NotOffered == "" {
			card.Trials = append(card.Trials, c.jsonTrial(o, found))
		}
	}
	for _, reason := range c.NotOffered() {
		card.NotOffered = append(card.NotOffered, jsonReason{reason.Why, Names(reason.Trials)})
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(card)
}

func (c *Card) jsonTrial(o Outcome, found []Finding) jsonTrial {
	t := jsonTrial{Name: o.Name(), Group: o.Group, Outcome: "passed", Why: o.NotTried, Cause: o.Cause}
	switch {
	case !o.Tried():
		t.Outcome = "not tried"
	case o.Failed():
		t.Outcome, t.Replay = "failed", c.replay(o.Trial)
		if OnlyKnown(found, o.Trial) {
			t.Outcome = "known"
		}
	}
	for _, f := range FindingsOf(found, o.Trial) {
		t.Findings = append(t.Findings, f.Name)
	}
	for _, f := range shownBy(o) {
		t.Failures = append(t.Failures, jsonFailure{
			Verdict: f.Text, Expected: f.Failure.Expected, Got: f.Failure.Got, Hint: f.Failure.Hint, Spec: f.Failure.Spec,
		})
	}
	if o.Search != nil {
		t.Runs = o.Search.Runs
		for _, h := range o.Search.hazards() {
			t.Hazards = append(t.Hazards, h.Finding.Name)
		}
	}
	if o.Result != nil {
		t.Calls, t.ClusterTime, t.Took = o.Result.Calls, o.Result.VirtualTime.Seconds(), o.Result.WallTime.Seconds()
	}
	return t
}
