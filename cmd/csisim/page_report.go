package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/report"
)

func reportFlag(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "report", "", "write a report for a browser to `FILE`, which needs nothing else: why it failed, what happened, the cluster at every instant; of several scenarios one file each, as --trace does")
	complete(command, "report", cobra.FixedCompletions([]string{"html"}, cobra.ShellCompDirectiveFilterFileExt))
}

// writePage writes the report of a run for a browser, if one is wanted.
func (o *outputs) writePage(run report.Run) error {
	if o.page == nil {
		return nil
	}
	return writeFile(run.Page, "report", func(w io.Writer) error { return report.Page(w, run, o.page) })
}
