package report

import (
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/excerpt"
)

// stepText is the name of a step in a status line.
func stepText(step scenario.StepResult) string {
	return fmt.Sprintf("step %d: %s", step.Number, excerpt.Of(step.Title, excerpt.Name))
}

// stepOf returns the step at which a failure was found; empty for expectations at the end.
func stepOf(run Run, f scenario.Failure) string {
	if f.Step < 1 || f.Step > len(run.Result.Steps) {
		return ""
	}
	return stepText(run.Result.Steps[f.Step-1])
}

// scenarioName returns the name of a run's scenario for people, or its file if it has no name.
func scenarioName(run Run) string { return excerpt.Of(wholeName(run), excerpt.Name) }

func wholeName(run Run) string {
	if run.Name != "" {
		return run.Name
	}
	if run.Result != nil && run.Result.Scenario != nil && run.Result.Scenario.Name != "" {
		return run.Result.Scenario.Name
	}
	return run.File
}
