package view

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
)

// Index is a page that lists several runs, with a link to the report of each one that has one.
type Index struct {
	Title string
	// Summary is the outcome of all runs in a line.
	Summary string
	// Failed is set if at least one run failed.
	Failed bool
	// Findings are the distinct findings, the most important first.
	Findings []IndexFinding
	Groups   []IndexGroup
	// Text is a report in plain text that the page shows below; empty for none.
	Text string
}

// IndexFinding is one finding of several runs.
type IndexFinding struct {
	Name, Detail, Harm string
	Runs               int
	File               string // the report of the run that shows it best; empty for none
	Replay             string
	Known              bool
}

// IndexGroup is a group of runs.
type IndexGroup struct {
	Title string
	Runs  []IndexRun
}

// IndexRun is one run.
type IndexRun struct {
	Name  string
	State State
	// Why is the headline of a failure, or the reason why it was not tried.
	Why  string
	File string // the report; empty for none
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

// Label is the state in words.
func (s State) Label() string {
	if s == NotTried {
		return "not tried"
	}
	return string(s)
}

// States are the states in the order of the filters.
func (Index) States() []State { return []State{Failed, Known, NotTried, Passed} }

// Count returns the number of runs in a state.
func (x Index) Count(s State) (n int) {
	for _, g := range x.Groups {
		n += g.Count(s)
	}
	return n
}

// Count returns the number of runs of the group in a state.
func (g IndexGroup) Count(s State) (n int) {
	for _, r := range g.Runs {
		if r.State == s {
			n++
		}
	}
	return n
}

// Open reports whether the page shows the runs of the group at first.
func (g IndexGroup) Open() bool { return g.Count(Failed)+g.Count(NotTried) > 0 }

var (
	//go:embed index.html.tmpl
	indexText string
	//go:embed index.css
	indexStyle string

	indexPage = template.Must(template.New("index").Parse(indexText))
)

// WriteIndex writes the index as one page without scripts.
func WriteIndex(w io.Writer, x Index) error {
	sum := sha256.Sum256([]byte(indexStyle))
	err := indexPage.Execute(w, struct {
		Index
		Style  template.CSS
		Policy template.HTMLAttr
	}{x, template.CSS(indexStyle), template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'"`, base64.StdEncoding.EncodeToString(sum[:])))})
	if err != nil {
		return fmt.Errorf("write index of reports: %w", err)
	}
	return nil
}
