package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	exploration "github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// exploring is the state of a csisim explore command.
type exploring struct {
	env      environment
	flags    exploreFlags
	progress *progress
	code     int
	// index lists the searches, their findings and reports; runs counts the runs of all searches.
	index index.Page
	runs  int
}

// search searches one scenario and reports the findings.
func (x *exploring) search(ctx context.Context, s *scenario.Scenario) error {
	text, err := strict.ReadFile(s.File)
	if err != nil {
		return err
	}
	found, err := explore.Of(ctx, s.File, text, explore.Options{
		Strategy: x.flags.strategy, Seed: x.flags.seed, Runs: x.flags.runs, Time: x.flags.time, Deviations: x.flags.deviations,
		Shard: x.flags.index, Shards: x.flags.shards, Corpus: x.flags.corpus, Space: x.flags.space(), Run: scenario.RunOptions{Isolation: sim.Isolation(x.flags.isolation), WorkDir: x.flags.workDir, WaitForDriver: waitOf(x.flags.waitForDriver)}, Jobs: x.flags.jobsOf(s), Processes: true, Progress: func(at *explore.Search) { x.show(s.Name, at) },
	})
	x.progress.erase()
	switch {
	case ctx.Err() != nil && (found == nil || found.Calm == nil || found.Runs == 0):
		return nil
	case err != nil && (found == nil || found.Runs == 0):
		return err
	case found.Calm.Exit != scenario.Passed:
		return x.failsCalmly(s, found.Calm)
	}
	return errors.Join(x.report(ctx, s, found), err)
}

// show prints the progress of a search.
func (x *exploring) show(name string, at *explore.Search) {
	line := fmt.Sprintf("%s  %s, %.0f a second, %s, %s", name, plural.Of(at.Runs, "run"), rate(at), reachedBy(at), foundBy(at))
	if x.progress.terminal.Live {
		x.progress.rewrite("• " + line)
		return
	}
	x.progress.sometimes(line)
}

func rate(s *explore.Search) float64 { return float64(s.Runs) / max(s.Elapsed.Seconds(), 0.001) }

// reachedBy renders the progress of a search: the number of abstract states that it has reached,
// and how many of the faults that are possible in the calm run have happened.
func reachedBy(at *explore.Search) string {
	if at.Possible == 0 {
		return plural.Of(at.States, "state")
	}
	return fmt.Sprintf("%s, %d of %s", plural.Of(at.States, "state"), at.Happened, plural.Of(at.Possible, "fault"))
}

// foundBy counts the findings of a search. Hazards and over-specific expectations do not count as
// findings.
func foundBy(at *explore.Search) string {
	counts := map[string]int{}
	for _, f := range at.Findings {
		counts[headings[f.Blame]]++
	}
	text := plural.Of(counts[aFinding], "finding")
	for _, other := range []string{aHazard, anExpectation} {
		if n := counts[other]; n > 0 {
			text += ", " + plural.Of(n, strings.ToLower(other))
		}
	}
	return text
}

// after renders the number of runs that the corpus already contained; "" for none.
func after(found *explore.Search) string {
	if found.Before() == 0 {
		return ""
	}
	return fmt.Sprintf(" after %d before", found.Before())
}

// failsCalmly reports a scenario that fails without any fault and therefore cannot be searched.
func (x *exploring) failsCalmly(s *scenario.Scenario, calm *scenario.Result) error {
	x.code = exitFailed
	printer := report.NewPrinter(x.env.stdout, report.Options{Terminal: x.progress.terminal, Workspace: workspaceOf(x.env), Planned: 1})
	run := report.Run{Program: self(), File: s.File, Result: calm, Versions: versionsOf(s).String()}
	printer.Finished(run)
	if x.flags.reports != "" {
		page, err := writeKept(run, x.flags.reports, s.Name)
		if err != nil {
			return err
		}
		fmt.Fprintf(x.env.stdout, "  report: %s\n", page)
		x.indexedCalm(s, run, page)
	}
	_, err := fmt.Fprintf(x.env.stdout, "%s fails in the calm run, without any fault, so it was not searched\n", s.Name)
	return err
}

// report prints the findings of a search, and writes a file for each.
func (x *exploring) report(ctx context.Context, s *scenario.Scenario, found *explore.Search) error {
	out := &strings.Builder{}
	fmt.Fprintf(out, "%s  %s%s, %.0f a second, %s, %s\n", s.Name, plural.Of(found.Runs, "run"), after(found), rate(found), reachedBy(found), foundBy(found))
	x.writeCompleteness(out, found)
	writeSample(out, found.Sample)
	for _, line := range found.Usage() {
		fmt.Fprintf(out, "  %s\n", trace.Escaped(line))
	}
	var replays, pages []string
	for i, f := range found.Findings {
		if f.Fails() {
			x.code = exitFailed
		}
		file, err := keepFinding(found, f, x.flags.out)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s %d  %s\n", headings[f.Blame], i+1, trace.Escaped(f.Text))
		fmt.Fprintf(out, "  in %d of %s, %s\n", f.Runs, plural.Of(found.Runs, "run"), reached(f))
		writeChoices(out, f.Choices)
		if f.ByChance() {
			fmt.Fprintf(out, "  %s\n", check.ByChance(f.Repeated, f.Repeats))
		}
		if f.Scenario != nil {
			fmt.Fprintf(out, "  in %s of the scenario\n", plural.Of(f.Steps, "step"))
		}
		x.writeStory(out, f)
		judged := append([]string{blameOf(f)}, reasonsOf(f)...)
		for _, line := range judged {
			fmt.Fprintf(out, "  %s\n", line)
		}
		if f.Repeats > 0 && f.Repeated == 0 {
			fmt.Fprintf(out, "  no replay: none of %d runs with these choices shows it again\n", f.Repeats)
			replays = append(replays, "")
		} else {
			replays = append(replays, file)
			fmt.Fprintf(out, "  replay: %s replay %s\n", self(), report.Quoted(file))
		}
		page, err := x.writePage(ctx, out, file, strings.Join(judged, "\n"))
		if err != nil {
			return err
		}
		pages = append(pages, page)
	}
	x.indexed(s, found, replays, pages)
	for _, statement := range found.Never() {
		x.code = exitFailed
		fmt.Fprintf(out, "\nNEVER  %s\n  in none of %s: the search does not reach a state in which this is true; give it more runs, or other faults\n", trace.Escaped(statement), plural.Of(found.Runs, "run"))
	}
	_, err := io.WriteString(x.env.stdout, out.String())
	return err
}

// writeCompleteness prints whether the runs cover all possible ones.
func (x *exploring) writeCompleteness(out io.Writer, found *explore.Search) {
	if x.flags.strategy != exploration.Exhaustive {
		return
	}
	faults := x.flags.budget
	if len(x.flags.faults) == 0 {
		faults = 0
	}
	bounds := fmt.Sprintf("at most %s and %s otherwise than in the calm run", plural.Of(faults, "fault"), plural.Of(x.flags.deviations, "other decision"))
	if found.Complete {
		fmt.Fprintf(out, "  complete: these are all runs with %s\n%s", bounds, leftOut(found))
		return
	}
	fmt.Fprintf(out, "  NOT complete: there are more runs with %s; give it more --time, or fewer --faults, --budget or --deviations\n", bounds)
}

// leftOut returns the number of runs that were skipped, in words.
func leftOut(found *explore.Search) string {
	if found.LeftOut == 0 {
		return ""
	}
	return fmt.Sprintf("  but for %s that come to the same as one of these: their orders differ in steps that share nothing\n", plural.Of(found.LeftOut, "further one"))
}

// writeSample prints how many repeated runs differed, and whether csisim or the driver caused the
// difference.
func writeSample(out io.Writer, s exploration.Sample) {
	if s.Differing == 0 {
		return
	}
	fmt.Fprintf(out, "  %d of %s made twice differed, such as %s:\n    %s\n", s.Differing, plural.Of(s.Runs, "run"), s.In,
		trace.Escaped(strings.ReplaceAll(s.First.Error(), "\n", "\n    ")))
}

// The heading of a finding depends on the responsible party.
const (
	aFinding      = "FINDING"
	aHazard       = "HAZARD"
	anExpectation = "EXPECTATION"
)

var headings = map[verdict.Blame]string{verdict.Driver: aFinding, verdict.Kubernetes: aHazard, verdict.Scenario: anExpectation, verdict.Own: aFinding, verdict.User: aHazard}

// blames explain the responsibility for a finding.
var blames = map[verdict.Blame]string{
	verdict.Driver:     "the driver is responsible: all other components kept to the CSI spec",
	verdict.Kubernetes: "the driver is not responsible: it executed all calls; with such faults real Kubernetes may do the same",
	verdict.Scenario:   "nothing is wrong: other orders and faults change something that the scenario expects; for a search, remove or relax the expectation",
	verdict.Own:        "the scenario says that this holds in every run",
	verdict.User:       "the driver is not responsible: a user or an administrator did this",
}

// blameOf explains the responsibility for a finding and, for Kubernetes, names the rules.
func blameOf(f *explore.Finding) string {
	broken := f.Breaks.Invariant()
	switch {
	case f.Blame != verdict.Kubernetes || broken == nil:
		return blames[f.Blame]
	case f.IsUnexplained():
		return "the driver is not responsible: it executed all calls; but no known behaviour of Kubernetes explains the finding: " + strings.Join(broken.Rules, ", ")
	}
	return blames[f.Blame] + ": " + strings.Join(broken.Rules, ", ")
}

// reasonsOf lists the reasons for a finding: the over-specific expectation, a delay of the awaited
// condition, and the known behaviour of Kubernetes that caused the delay.
func reasonsOf(f *explore.Finding) (lines []string) {
	if f.Late > 0 {
		lines = append(lines, fmt.Sprintf("the condition is met, but late: after %s", trace.Span(f.Late)))
	}
	if expected := f.OfRun().Failure.Expected; f.Blame == verdict.Scenario && expected != "" {
		lines = append(lines, "the scenario expects: "+trace.Escaped(expected))
	}
	if f.Never {
		longer := "the condition is not met within another hour, either"
		if f.Instead != "" {
			longer += ": " + firstLine(f.Instead)
		}
		lines = append(lines, longer)
	}
	if f.Left != "" {
		lines = append(lines, "if the scenario does not wait for it: "+firstLine(f.Left))
	}
	for _, h := range f.Hazards {
		lines = append(lines, fmt.Sprintf("known hazard: %s: %s", h.Is, strings.Join(h.Rules, ", ")))
	}
	return lines
}

// firstLine returns the first line of a verdict, escaped for printing.
func firstLine(verdict string) string {
	first, _, _ := strings.Cut(verdict, "\n")
	return trace.Escaped(first)
}

// writeStory prints the events of a finding, in order.
func (x *exploring) writeStory(out io.Writer, f *explore.Finding) {
	if len(f.Story) == 0 {
		return
	}
	timeline := trace.NewTimeline(out, trace.TimelineOptions{Color: x.progress.terminal.Color, Width: x.progress.terminal.Width, Indent: "    "})
	fmt.Fprintln(out, "  what happened:")
	for _, e := range f.Story {
		timeline.Add(e)
	}
	_ = timeline.Close() // a strings.Builder never fails
}

// reached describes how the search obtained the choices of a finding.
func reached(f *explore.Finding) string {
	if f.Before == len(f.Choices) {
		return "such as " + f.Found + ":"
	}
	return fmt.Sprintf("shrunk from %s of the run with %s, to:", plural.Of(f.Before, "choice"), f.Found)
}

// mostShown bounds the choices that are printed; the file contains all of them.
const mostShown = 12

func writeChoices(out io.Writer, choices []exploration.Choice) {
	for i, c := range choices {
		if i == mostShown {
			fmt.Fprintf(out, "    and %d more\n", len(choices)-i)
			return
		}
		fmt.Fprintf(out, "    %s\n", trace.Escaped(c.String()))
	}
}
