package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/strict"
)

// writeStep explains one kind of step.
func writeStep(w io.Writer, step scenario.StepInfo) error {
	fmt.Fprintf(w, "%s\n  %s\n", step.Name, step.Summary)
	if len(step.Fields) > 0 {
		fmt.Fprintln(w, "\nFields")
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, field := range step.Fields {
			fmt.Fprintf(table, "  %s\t%s\n", field.Name, fieldText(field))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "\nExample\n  %s\n", strings.ReplaceAll(step.Example, "\n", "\n  "))
	return err
}

func fieldText(f strict.Field) string {
	text := f.Doc
	if len(f.Enum) > 0 {
		text += " One of " + strings.Join(f.Enum, ", ") + "."
	}
	if f.Default != "" {
		text += " Default: " + f.Default + "."
	}
	if f.Required {
		text += " Required."
	}
	return text
}
