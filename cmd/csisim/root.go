package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/pod"
	"github.com/csisim/csisim/internal/world/trace"
)

// execute runs the command and returns its exit code.
func execute(ctx context.Context, env environment, args []string) int {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitPassed
	}
	failure := failureOf(err, command)
	if failure.err != nil {
		fmt.Fprintf(env.stderr, "csisim: %s\n", trace.Escaped(failure.err.Error()))
	}
	if failure.hint != "" {
		fmt.Fprintln(env.stderr, failure.hint)
	}
	return failure.code
}

func newRoot(env environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "csisim",
		Short: "Test CSI drivers against a simulated Kubernetes, in virtual time",
		Long: `csisim simulates the Kubernetes storage control plane in one process and tests
real CSI drivers with it. Ten minutes of a cluster take milliseconds, and an
event that occurs once in ten thousand runs happens when a scenario says so.

Exit codes: 0 passed, 1 an expectation failed, 2 bad input, 3 this machine
cannot run it, or a check did not try everything, 129 hung up, 130
interrupted, 143 terminated.`,
		Example: `  csisim check -- my-driver --endpoint={{.Endpoint}} --node-id={{.NodeID}}
  csisim run scenarios/rwo-filesystem.yaml
  csisim init`,
		Version:       versions(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage("%w", unknown("command", args[0], commandNames(root)))
		},
		RunE: func(root *cobra.Command, _ []string) error { return root.Help() },
	}
	root.SetVersionTemplate("{{.Version}}") // the same as csisim version
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	root.SetFlagErrorFunc(flagMistake)
	root.PersistentPreRunE = func(command *cobra.Command, _ []string) error { return flagWithoutValue(command) }
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(c.OutOrStdout(), c) })
	root.AddCommand(newRun(env), newCheck(env), newExplore(env), newLoad(env), newReplay(env), newValidate(env), newDiff(env), newCompare(env), newImport(env), newExplain(env), newView(env), newUp(env), newDown(env), newGet(env), newSchema(env), newSteps(env),
		newProfiles(env), newInit(env), newManifests(env), newTestDriver(env), newVersion(env), newClean(env))
	root.AddCommand(pod.Commands()...)
	return root
}

// flagWithoutValue returns an error if a flag consumed the -- before the driver's command as its
// value.
func flagWithoutValue(command *cobra.Command) (err error) {
	command.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "--" || f.Value.String() == "[--]" {
			err = usage("--%s needs a value: it is followed by -- and the driver's command", f.Name)
		}
	})
	return err
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, command := range root.Commands() {
		if command.IsAvailableCommand() {
			names = append(names, command.Name())
		}
	}
	return names
}

// flagMistake suggests a flag for one that does not exist, and removes the names of Go's parsers
// from an error.
func flagMistake(command *cobra.Command, err error) error {
	if err := flagWithoutValue(command); err != nil {
		return err
	}
	var missing *pflag.NotExistError
	if errors.As(err, &missing) && len(missing.GetSpecifiedName()) > 1 {
		var names []string
		command.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if nearest := strict.Nearest(missing.GetSpecifiedName(), names); nearest != "" {
			return usage("%w; did you mean --%s?", err, nearest)
		}
	}
	var number *strconv.NumError
	if errors.As(err, &number) {
		text, _, _ := strings.Cut(err.Error(), ": strconv.")
		return usage("%s: not a number that fits", text)
	}
	return usage("%w", err)
}

// needs requires an argument; its error names the missing one.
func needs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s is missing", what)
		}
		return nil
	}
}

// atMost rejects surplus arguments.
func atMost(n int) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usage("unexpected argument %s", strings.Join(args[n:], " "))
		}
		return nil
	}
}
