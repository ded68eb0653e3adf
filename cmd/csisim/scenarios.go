package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// loadScenarios reads scenarios. It reports the mistakes of all of them and then fails.
func loadScenarios(env environment, files []string) ([]*scenario.Scenario, error) {
	var scenarios []*scenario.Scenario
	mistakes, wrong := 0, 0
	for _, file := range files {
		s, err := scenario.Load(file)
		if err != nil {
			wrong++
			mistakes += reportMistakes(env, file, err)
			continue
		}
		scenarios = append(scenarios, s)
	}
	if wrong == 0 {
		return scenarios, nil
	}
	fmt.Fprintf(env.stderr, "csisim: %s in %s\n", plural.Of(mistakes, "mistake"), plural.Of(wrong, "file"))
	return nil, reported(exitInput)
}

// chosenScenarios returns the scenarios with a name that matches one of the patterns, or all
// without a pattern.
func chosenScenarios(all []*scenario.Scenario, patterns []string) ([]*scenario.Scenario, error) {
	if len(patterns) == 0 {
		return all, nil
	}
	var chosen []*scenario.Scenario
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
		if slices.ContainsFunc(patterns, func(p string) bool { return partial.Wildcard(p, s.Name) }) {
			chosen = append(chosen, s)
		}
	}
	for _, p := range patterns {
		if !slices.ContainsFunc(names, func(name string) bool { return partial.Wildcard(p, name) }) {
			return nil, usage("--only %s: no scenario of these files has such a name%s", p, meant(p, names))
		}
	}
	return chosen, nil
}

// meant suggests the nearest known name, if there is a similar one.
func meant(name string, known []string) string {
	if nearest := strict.Nearest(name, known); nearest != "" {
		return fmt.Sprintf("; did you mean %q?", nearest)
	}
	return ""
}

// reportMistakes prints the mistakes in a file, one per line, and returns their number.
func reportMistakes(env environment, file string, err error) int {
	var problems strict.Problems
	if !errors.As(err, &problems) {
		fmt.Fprintln(env.stderr, trace.Escaped(excerpt.Words(err.Error())))
		annotate(env, file, 0, 0, err.Error())
		return 1
	}
	for _, p := range problems {
		fmt.Fprintln(env.stderr, trace.Escaped(excerpt.Words(p.Error())))
		place := fmt.Sprintf("%s:%d:%d: ", p.File, p.Line, p.Column)
		annotate(env, p.File, p.Line, p.Column, strings.TrimPrefix(p.Error(), place))
	}
	return len(problems)
}

// annotate attaches a mistake to its line in a pull request.
func annotate(env environment, file string, line, column int, message string) {
	if workspace := workspaceOf(env); workspace != "" {
		fmt.Fprint(env.stdout, trace.Visible(report.Annotation(workspace, file, line, column, "scenario", message)))
	}
}

// workspaceOf returns the repository's root in a GitHub workflow; "" otherwise.
func workspaceOf(env environment) string {
	if env.getenv("GITHUB_ACTIONS") != "true" {
		return ""
	}
	if root := env.getenv("GITHUB_WORKSPACE"); root != "" {
		return root
	}
	return "."
}
