// Package index writes a page that lists several runs and their reports.
package index

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"sync"
)

// Page is a page that lists several runs, with links to their reports.
type Page struct {
	Title string
	// Summary is the outcome of all runs in a line.
	Summary string
	// Failed is set if at least one run failed.
	Failed bool
	// Interrupted is set if an interrupt ended the runs: there would have been more.
	Interrupted bool
	// Findings are the distinct findings, the most important first.
	Findings []Finding
	Groups   []Group
	// Text is a report in plain text at the end of the page; empty for none.
	Text string
}

// Finding is one finding of several runs.
type Finding struct {
	Name, Detail, Harm string
	Runs               int
	File               string // the report of the run that shows the finding best; empty for none
	Replay             string
	Known              bool
}

// Group is a group of runs.
type Group struct {
	Title string
	Runs  []Run
}

// Run is a run.
type Run struct {
	Name  string
	State State
	// Why is the headline of a failure, or the reason why the run was not tried.
	Why  string
	File string // the report; empty if there is none
	Took string
}

// State is the outcome of a run in an index.
type State string

// The states.
const (
	Passed   State = "passed"
	Failed   State = "failed"
	Known    State = "known"
	NotTried State = "untried"
)

// Label returns the state in words.
func (s State) Label() string {
	if s == NotTried {
		return "not tried"
	}
	return string(s)
}

// States returns the states in the order of the filters.
func (Page) States() []State { return []State{Failed, Known, NotTried, Passed} }

// Verdict returns the outcome of all runs in a word.
func (x Page) Verdict() string {
	switch {
	case x.Failed:
		return "Failed"
	case x.Interrupted:
		return "Interrupted"
	}
	return "Passed"
}

// Count returns the number of runs in a state.
func (x Page) Count(s State) (n int) {
	for _, g := range x.Groups {
		n += g.Count(s)
	}
	return n
}

// Count returns the number of runs of the group in a state.
func (g Group) Count(s State) (n int) {
	for _, r := range g.Runs {
		if r.State == s {
			n++
		}
	}
	return n
}

// Open reports whether the page initially shows the runs of the group.
func (g Group) Open() bool { return g.Count(Failed)+g.Count(NotTried) > 0 }

var (
	//go:embed index.html.tmpl
	text string
	// Style is the look of pages without scripts.
	//
	//go:embed index.css
	Style string

	page = sync.OnceValue(func() *template.Template { return template.Must(template.New("index").Parse(text)) })
)

// Write writes the index as one page without scripts.
func Write(w io.Writer, x Page) error {
	sum := sha256.Sum256([]byte(Style))
	err := page().Execute(w, struct {
		Page
		Style  template.CSS
		Policy template.HTMLAttr
	}{x, template.CSS(Style), template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'"`, base64.StdEncoding.EncodeToString(sum[:])))})
	if err != nil {
		return fmt.Errorf("write index of reports: %w", err)
	}
	return nil
}
