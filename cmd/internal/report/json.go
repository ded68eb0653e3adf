package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// jsonReport is the report of a session for machines. Times are in seconds.
type jsonReport struct {
	Planned     int       `json:"planned"`
	Passed      int       `json:"passed"`
	Failed      int       `json:"failed"`
	Errors      int       `json:"errors"` // scenarios that could not be run
	NotTried    int       `json:"notTried,omitempty"`
	Calls       int       `json:"calls"`
	ClusterTime float64   `json:"clusterSeconds"`
	Scenarios   []jsonRun `json:"scenarios"`
}

type jsonRun struct {
	Name        string        `json:"name"`
	File        string        `json:"file"`
	Verdict     string        `json:"verdict"` // passed, failed, error or not tried
	Error       string        `json:"error,omitempty"`
	Failures    []jsonFailure `json:"failures,omitempty"`
	Strategy    string        `json:"strategy"`
	Seed        uint64        `json:"seed,omitempty"`
	Calls       int           `json:"calls"`
	ClusterTime float64       `json:"clusterSeconds"`
	WallTime    float64       `json:"seconds"`
	Replay      string        `json:"replay"`
	Trace       string        `json:"trace,omitempty"`
	Logs        string        `json:"logs,omitempty"`
	Notes       []string      `json:"notes,omitempty"`
}

type jsonFailure struct {
	Verdict  string `json:"verdict"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Step     string `json:"step,omitempty"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Spec     string `json:"spec,omitempty"`
}

// JSON writes the runs for machines; planned is the number of planned runs.
func JSON(w io.Writer, runs []Run, planned int) error {
	r := jsonReport{Planned: max(planned, len(runs)), Scenarios: []jsonRun{}}
	var cluster time.Duration
	for _, run := range runs {
		entry := jsonOf(run)
		switch entry.Verdict {
		case verdictPassed:
			r.Passed++
		case verdictFailed:
			r.Failed++
		case verdictNotTried:
			r.NotTried++
		default:
			r.Errors++
		}
		r.Calls += entry.Calls
		if run.Result != nil {
			cluster += run.Result.VirtualTime
		}
		r.Scenarios = append(r.Scenarios, entry)
	}
	r.ClusterTime = cluster.Seconds()
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

const (
	verdictPassed = "passed"
	verdictFailed = "failed"
	verdictError  = "error"

	verdictNotTried    = "not tried"
	verdictInterrupted = "interrupted" // of a page
)

func jsonOf(run Run) jsonRun {
	entry := jsonRun{
		Name: wholeName(run), File: run.File, Verdict: verdictFailed, Strategy: cmp.Or(run.Strategy, "calm"), Seed: run.Seed,
		Replay: run.Replay(), Trace: run.Trace, Logs: run.Logs,
	}
	if entry.Strategy == "calm" {
		entry.Seed = 0 // it has none
	}
	switch {
	case run.NotTried != "":
		entry.Verdict, entry.Error = verdictNotTried, run.NotTried
	case run.Err != nil:
		entry.Verdict, entry.Error = verdictError, run.Err.Error()
	case run.Passed():
		entry.Verdict = verdictPassed
	}
	result := run.Result
	if result == nil {
		return entry
	}
	entry.Calls, entry.Notes = result.Calls, slices.Concat(result.Notes, result.Litter)
	entry.ClusterTime, entry.WallTime = result.VirtualTime.Seconds(), result.WallTime.Seconds()
	for _, f := range result.Failures {
		entry.Failures = append(entry.Failures, jsonFailure{
			Verdict: f.Verdict.Text, File: f.File, Line: f.Line, Step: stepOf(run, f), Expected: f.Expected, Got: f.Got, Hint: f.Hint, Spec: f.Spec,
		})
	}
	return entry
}
