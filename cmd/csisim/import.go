package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/reenact"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// importFlags holds the flags of csisim import.
type importFlags struct {
	output, scenario, zone, until string
	onlyFacts, isTemporary        bool
	driver                        bool
	command                       []string // of the driver
}

func newImport(env environment) *cobra.Command {
	var f importFlags
	command := &cobra.Command{
		Use:   "import PATH... {--output TRACE | --scenario FILE} [-- CMD...]",
		Short: "Make a trace from the logs of a real incident",
		Long: `Read the logs of a real cluster and write a trace for csisim explain, view and
diff. A PATH is a file, a folder, an archive (.tar, .gz, .bz2, .xz, .zst), or -
for standard input. csisim recognizes these forms by their content: klog, journalctl,
kubectl logs, files of containerd, JSON of zap and logr; objects and Events of kubectl
get, audit logs, kubectl cluster-info dump and must-gather.

Secrets are redacted. Each event names its file and line. With --scenario, a scenario
plays the story with the mock: volumes, pods, answers and restarts at their times.
With --driver, the command after -- takes the place of the mock.

Exit codes: 0 the trace is written, 2 bad input.`,
		Example: `  csisim import must-gather.tar.gz -o incident.jsonl
  journalctl -u kubelet -o short-iso-precise | csisim import - -o incident.jsonl
  csisim import logs -o incident.jsonl --scenario incident.yaml
  csisim import logs --scenario incident.yaml --driver -- my-driver --endpoint={{.Endpoint}}
  csisim explain incident.jsonl`,
		Args: needs("a PATH"),
		RunE: func(command *cobra.Command, args []string) error {
			paths, err := f.split(args, command.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return importLogs(command.Context(), env, f, paths)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.output, "output", "o", "", "write the trace to `FILE`; - is standard output")
	flags.StringVar(&f.scenario, "scenario", "", "write a scenario that plays the story to `FILE`")
	flags.BoolVar(&f.driver, "driver", false, "play the story with the driver that the command after -- starts")
	flags.StringVar(&f.zone, "time-zone", "", "`ZONE` of times that name none, such as Europe/Berlin (default UTC)")
	flags.StringVar(&f.until, "until", "", "a `TIME` after the last line, for lines without a year (default the file's time)")
	flags.BoolVar(&f.onlyFacts, "only-facts", false, "leave out the lines that no pattern recognizes")
	complete(command, "output", cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "scenario", cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "time-zone", cobra.NoFileCompletions)
	complete(command, "until", cobra.NoFileCompletions)
	return command
}

// split separates the paths from the command of the driver.
func (f *importFlags) split(args []string, dash int) (paths []string, err error) {
	switch {
	case !f.driver && dash >= 0:
		return nil, usage("a driver after -- needs --scenario FILE --driver")
	case !f.driver:
		return args, nil
	case f.scenario == "":
		return nil, usage("--driver needs --scenario: the file that plays the story with the driver")
	case dash < 0 || dash == len(args):
		return nil, usage("--driver needs the command of the driver after --, such as -- my-driver --endpoint={{.Endpoint}}")
	case dash == 0:
		return nil, usage("a PATH is missing")
	}
	f.command = args[dash:]
	return args[:dash], nil
}

// options returns the inputs of the import.
func (f importFlags) options(paths []string) (o incident.Options, err error) {
	o = incident.Options{Paths: paths, Stdin: os.Stdin, OnlyFacts: f.onlyFacts}
	if f.zone != "" {
		if o.Zone, err = time.LoadLocation(f.zone); err != nil {
			return o, usage("--time-zone %s: not a time zone such as Europe/Berlin or UTC", f.zone)
		}
	}
	if f.until != "" {
		if o.Until, err = untilTime(f.until); err != nil {
			return o, err
		}
	}
	return o, nil
}

// untilTime parses a day, or a day with a time.
func untilTime(text string) (time.Time, error) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(24*time.Hour - time.Nanosecond), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, usage("--until %s: not a time such as 2026-11-28 or 2026-11-28T14:00:00Z", text)
	}
	return t.UTC(), nil
}

func importLogs(ctx context.Context, env environment, f importFlags, paths []string) error {
	switch {
	case f.output == "" && f.scenario == "":
		return usage("csisim import needs --output: the file of the trace, or - for standard output; or --scenario")
	case f.output == "-" && f.scenario != "":
		return usage("--scenario needs the trace in a file: --output FILE, or no --output")
	}
	o, err := f.options(paths)
	if err != nil {
		return err
	}
	if f.output == "" {
		remove, err := f.temporary()
		if err != nil {
			return err
		}
		defer remove()
	}
	result, err := f.write(ctx, env, o)
	if ctx.Err() != nil {
		return wasInterrupted(ctx)
	}
	if err != nil {
		return err
	}
	printImported(env.stderr, result)
	if result.Events == 0 {
		return usage("there is no line with a time in %s", plural.Of(result.Files, "file"))
	}
	return f.next(env, paths)
}

// temporary sets the output to a temporary file.
func (f *importFlags) temporary() (remove func(), err error) {
	file, err := os.CreateTemp("", "csisim-import-*.jsonl")
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "make a temporary file", Err: err}
	}
	f.output, f.isTemporary = file.Name(), true
	return func() { _ = os.Remove(file.Name()) }, file.Close()
}

// next writes the scenario if it is requested, and prints the commands that a user can run next.
func (f importFlags) next(env environment, paths []string) error {
	if f.scenario != "" {
		if err := f.writeScenario(paths); err != nil {
			return err
		}
	}
	fmt.Fprintln(env.stderr, "\nNext:")
	if f.output != "-" && !f.isTemporary {
		fmt.Fprintf(env.stderr, "  csisim explain %s\n  csisim view %s\n", f.output, f.output)
	}
	if f.scenario != "" {
		fmt.Fprintf(env.stderr, "  csisim run %s --trace played.jsonl\n", f.scenario)
	}
	return nil
}

// writeScenario writes the scenario of the trace.
func (f importFlags) writeScenario(paths []string) error {
	file, err := os.Open(f.output)
	if err != nil {
		return usage("%s: %w", f.output, reason(err))
	}
	defer file.Close()
	story, err := reenact.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.output, err)
	}
	story.Command = f.command
	release, err := outputFiles{"scenario": f.scenario}.reserve()
	if err != nil {
		return err
	}
	defer release()
	err = writeFile(f.scenario, "scenario", func(w io.Writer) error { return story.Write(w, strings.Join(paths, ", ")) })
	if errors.Is(err, reenact.ErrNoVolume) || errors.Is(err, reenact.ErrSeveralDrivers) {
		return usage("--scenario: %w", err)
	}
	return err
}

// write imports the logs into the output.
func (f importFlags) write(ctx context.Context, env environment, o incident.Options) (result *incident.Result, err error) {
	run := func(to io.Writer) (err error) {
		result, err = incident.Run(ctx, o, to)
		if errors.Is(err, os.ErrNotExist) {
			return usage("%w", err)
		}
		return err
	}
	if f.output == "-" {
		err = run(env.stdout)
		return result, err
	}
	release, err := outputFiles{"output": f.output}.reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	err = writeFile(f.output, "trace", run)
	return result, err
}

// mostProblems is the number of problems that are printed.
const mostProblems = 20

// printImported prints a summary of an import.
func printImported(to io.Writer, r *incident.Result) {
	var text bytes.Buffer
	fmt.Fprintf(&text, "Read %s, %s, %.1f MB.\n", plural.Of(r.Files, "file"), plural.Of(r.Lines, "line"), float64(r.Bytes)/1e6)
	if r.Events > 0 {
		fmt.Fprintf(&text, "Wrote %s from %s to %s UTC (%s):\n", plural.Of(r.Events, "event"), r.Began.Format(time.DateTime), r.Ended.Format(time.DateTime), trace.Span(r.Ended.Sub(r.Began)))
		fmt.Fprintf(&text, "  %s, %s, %s.\n", plural.Of(r.Calls, "driver call"), plural.Of(r.Facts, "further fact"), plural.Of(r.Objects, "object"))
	}
	if r.Uncertain > 0 {
		fmt.Fprintf(&text, "  %s uncertain: their lines may belong to other calls.\n", are(r.Uncertain, "call"))
	}
	for _, program := range slices.Sorted(maps.Keys(r.Programs)) {
		fmt.Fprintf(&text, "  %-28s %s recognized\n", program, plural.Of(r.Programs[program], "line"))
	}
	for _, s := range r.Skews {
		fmt.Fprintf(&text, "  %s\n", skewWords(s))
	}
	printLogProblems(&text, r.Problems)
	_, _ = to.Write(text.Bytes())
}

// skewWords describes a clock that was corrected.
func skewWords(s incident.Skew) string {
	direction, by := "ahead", s.By
	if by < 0 {
		direction, by = "behind", -by
	}
	if s.IsBound {
		return fmt.Sprintf("The clock of %s is at least %s %s; its events are moved by that.", s.Clock, by, direction)
	}
	return fmt.Sprintf("The clock of %s is %s %s, with an error of at most %s; its events are moved by that.", s.Clock, by, direction, s.Error)
}

func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return plural.Of(n, noun) + " are"
}

func printLogProblems(to io.Writer, problems []lines.Problem) {
	for i, p := range problems {
		if i == mostProblems {
			fmt.Fprintf(to, "  … and %s\n", plural.Of(len(problems)-i, "further remark"))
			return
		}
		where := p.File
		if p.Line > 0 {
			where = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(to, "csisim: %s%s\n", trace.Escaped(where), trace.Escaped(p.Text))
	}
}
