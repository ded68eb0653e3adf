package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
)

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr,omitempty"`
	Time     string     `xml:"time,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr,omitempty"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"` // at most one: readers count each as a failed case
	Error   *junitProblem `xml:"error"`
	Skipped *junitSkipped `xml:"skipped"`
}

type junitSkipped struct {
	Message string `xml:"message,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes the runs as one test suite with a test case for each scenario. A scenario that could
// not be run is an error, a failed expectation is a failure. A scenario with only known findings is
// skipped.
func JUnit(w io.Writer, runs []Run) error {
	var cases []junitCase
	var wall time.Duration
	for _, run := range runs {
		cases = append(cases, caseOf(run))
		if run.Result != nil {
			wall += run.Result.WallTime
		}
	}
	return writeJUnit(w, cases, wall)
}

// Case is a test case of a JUnit report that does not represent a scenario.
type Case struct {
	Name string
	// Failure is the reason for its failure; empty if it passed. Details are its further lines.
	Failure string
	Details []string
}

// JUnitCases writes test cases that do not represent scenarios.
func JUnitCases(w io.Writer, all []Case) error {
	var cases []junitCase
	for _, one := range all {
		c := junitCase{Name: one.Name, Class: "csisim", Time: wallSeconds(0)}
		if one.Failure != "" {
			text := strings.Join(append([]string{one.Failure}, one.Details...), "\n")
			c.Failure = &junitProblem{Message: excerpt.Words(one.Failure), Type: "finding", Text: excerpt.Words(text)}
		}
		cases = append(cases, c)
	}
	return writeJUnit(w, cases, 0)
}

func writeJUnit(w io.Writer, cases []junitCase, wall time.Duration) error {
	suite := junitSuite{Name: "csisim", Tests: len(cases), Cases: cases, Time: wallSeconds(wall)}
	for _, c := range cases {
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	encoder.Indent("", "  ")
	if err := encoder.Encode(junitSuites{
		Name: suite.Name, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors, Skipped: suite.Skipped, Time: suite.Time, Suite: suite,
	}); err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func caseOf(run Run) junitCase {
	c := junitCase{Name: scenarioName(run), Class: "csisim", File: run.File, Time: wallSeconds(0)}
	if run.NotTried != "" {
		c.Skipped = &junitSkipped{Message: run.NotTried}
	}
	if run.Err != nil {
		c.Error = &junitProblem{Message: excerpt.Words(firstLine(run.Err.Error())), Type: "error", Text: excerpt.Words(run.Err.Error())}
	}
	if run.Result == nil {
		return c
	}
	c.Time = wallSeconds(run.Result.WallTime)
	if run.Known != "" {
		c.Skipped = &junitSkipped{Message: run.Known}
		return c
	}
	c.Failure = problemOf(run)
	return c
}

// problemOf describes the failures of a run: the first verdict, and the number of the others.
func problemOf(run Run) *junitProblem {
	failures := run.Result.Failures
	if len(failures) == 0 {
		return nil
	}
	message := excerpt.Paths(firstLine(failures[0].Verdict.Text))
	if more := len(failures) - 1; more > 0 {
		message += fmt.Sprintf(" (and %s)", plural.Of(more, "further failure"))
	}
	plain := NewPrinter(io.Discard, Options{Verbose: true})
	return &junitProblem{Message: excerpt.Words(message), Type: "expectation", Text: excerpt.Words(strings.Trim(plain.failures(run), "\n") + "\n")}
}

func wallSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
