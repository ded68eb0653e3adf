package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/trace"
)

func reportFlag(command *cobra.Command, file *string) {
	command.Flags().StringVar(file, "report", "", "write a self-contained HTML report to `FILE`; for several scenarios one file each, like --trace")
	complete(command, "report", cobra.FixedCompletions([]string{"html"}, cobra.ShellCompDirectiveFilterFileExt))
}

// writeSummary writes the summary of all trials in Markdown, if one is requested.
func (c *checking) writeSummary(ctx context.Context, card *check.Card) error {
	if c.flags.summary == "" {
		return nil
	}
	page, err := card.Index(func(*check.Trial) string { return "" })
	if err != nil {
		return err
	}
	page.Interrupted = ctx.Err() != nil
	return writeFile(c.flags.summary, "summary", page.Markdown)
}

// writePages writes a browser report for each trial with a new finding, and an index of all trials,
// if reports are requested.
func (c *checking) writePages(ctx context.Context, card *check.Card) error {
	if c.flags.reports == "" {
		return nil
	}
	files := map[string]string{} // by the name of the run
	for _, run := range c.runs(card) {
		if run.Result == nil || run.Passed() || run.Known != "" {
			continue
		}
		file, err := writeKept(run, c.flags.reports, run.Name)
		if err != nil {
			return err
		}
		files[run.Name] = filepath.Base(file)
	}
	page, err := card.Index(func(t *check.Trial) string { return files[t.Name()] })
	if err != nil {
		return err
	}
	page.Interrupted = ctx.Err() != nil
	return writeIndex(c.flags.reports, page)
}

// writeIndex writes the page that lists the reports in a directory.
func writeIndex(dir string, page index.Page) error {
	return writeFile(filepath.Join(dir, "index.html"), "index of reports", func(w io.Writer) error { return index.Write(w, page) })
}

// writeKept writes the browser report of a run to a directory, from the run's recorded trace.
func writeKept(run report.Run, dir, name string) (file string, err error) {
	shown := view.NewEncoder()
	for _, e := range trace.Merged(run.Result.Trace, run.Result.States) {
		shown.Sink(e)
	}
	file = filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".html")
	return file, writeFile(file, "report", func(w io.Writer) error { return report.Page(w, run, shown) })
}

// writePage replays a finding and writes its browser report, if reports are requested. It returns
// the file's name; empty if no reports are requested.
func (x *exploring) writePage(ctx context.Context, out io.Writer, finding, blame string) (page string, err error) {
	if x.flags.reports == "" || ctx.Err() != nil {
		return "", nil
	}
	page = filepath.Join(x.flags.reports, strings.TrimSuffix(filepath.Base(finding), explore.Extension)+".html")
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return "", fmt.Errorf("write the report of %s: %w", finding, err)
	}
	defer nowhere.Close()
	quiet := x.env
	quiet.stdout = nowhere
	if err := replay(ctx, quiet, runFlags{isolation: x.flags.isolation, workDir: x.flags.workDir, patience: usualPatience, waitForDriver: x.flags.waitForDriver, parallel: 1, report: page, blame: blame}, finding); codeOf(err) > exitFailed {
		return "", fmt.Errorf("write the report of %s: %w", finding, err)
	}
	_, err = fmt.Fprintf(out, "  report: %s\n", page)
	return page, err
}

// writePage writes the browser report of a run, if one is requested.
func (o *outputs) writePage(run report.Run) error {
	if o.page == nil {
		return nil
	}
	return writeFile(run.Page, "report", func(w io.Writer) error { return report.Page(w, run, o.page) })
}
