package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// initFlags holds the flags of csisim init.
type initFlags struct {
	name, replace      string
	isolation, workDir string
}

// initDir is the default directory of the first scenario.
const initDir = "test/csisim"

func newInit(env environment) *cobra.Command {
	var f initFlags
	command := &cobra.Command{
		Use:   "init [DIR] [-- DRIVER ARGS...]",
		Short: "Write a first scenario and a first Go test for a driver",
		Long: `Write a first scenario, a first Go test and their manifests into DIR (default
` + initDir + `), for the driver that DRIVER ARGS starts, with the templates of
'csisim check'; without a driver for the reference driver in memory. The name is the
driver's own answer. If one of the files exists, nothing is written.

DIR becomes a separate Go module, since csisim requires versions of grpc and of
Kubernetes' modules that may not fit the driver's module.`,
		Example: `  csisim init
  csisim init test/volumes -- ./bin/my-driver --endpoint={{.Endpoint}} --nodeid={{.NodeID}}`,
		RunE: func(command *cobra.Command, args []string) error {
			if err := checkIsolation(f.isolation); err != nil {
				return err
			}
			return f.run(command, env, args)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.name, "name", "", "the driver's `NAME` (default the answer of GetPluginInfo)")
	flags.StringVar(&f.replace, "replace", "", "use the checkout of csisim in `DIR`, not a release")
	isolationFlag(flags, &f.isolation)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of the driver while csisim requests its name (default the system's temporary directory)")
	complete(command, "name", cobra.NoFileCompletions)
	return command
}

func (f initFlags) run(command *cobra.Command, env environment, args []string) error {
	dir, driver, err := initArgs(args, command.ArgsLenAtDash())
	if err != nil {
		return err
	}
	if err := mustBeNew(dir); err != nil {
		return err
	}
	if f.name == "" && len(driver) > 0 {
		if done, err := isolatePrograms(command.Context(), env, f.isolation, f.workDir, true); done {
			return err
		}
		if f.name, err = f.ask(command.Context(), driver); err != nil {
			return err
		}
	}
	first, err := newFirst(dir, f.name, f.replace, driver)
	if err != nil {
		return err
	}
	written, err := first.write(dir)
	if err != nil {
		return &failure{code: exitEnvironment, err: err}
	}
	fmt.Fprintf(env.stdout, "Wrote %s\nNext:\n  %s run %s\n  cd %s && %s && go test ./...\n",
		strings.Join(written, ", "), self(), report.Quoted(filepath.Join(dir, "first.yaml")), report.Quoted(dir), first.fetch())
	return nil
}

// initArgs are the directory and, behind --, the driver's command.
func initArgs(args []string, dash int) (dir string, driver []string, err error) {
	if dash >= 0 {
		args, driver = args[:dash], args[dash:]
		if len(driver) == 0 {
			return "", nil, usage("nothing behind --: want the driver's program and its arguments")
		}
	}
	switch len(args) {
	case 0:
		return initDir, driver, nil
	case 1:
		return filepath.Clean(args[0]), driver, nil
	}
	return "", nil, usage("unexpected argument %s: a driver's program goes behind --", args[1])
}

// ask starts the driver and returns its name.
func (f initFlags) ask(ctx context.Context, driver []string) (string, error) {
	if !namespaces.Entered() {
		f.isolation = string(sim.None)
	}
	subject := check.Subject{Driver: scenario.Driver{Program: &scenario.Program{Command: driver}}}
	facts, err := check.Ask(ctx, subject, check.RunOptions{WorkDir: f.workDir, Isolation: sim.Isolation(f.isolation)})
	var refused *check.RefusedError
	switch {
	case errors.As(err, &refused):
		return "", usage("%w; --name NAME writes the files even so", err)
	case err != nil:
		return "", &failure{code: exitEnvironment, err: fmt.Errorf("asking the driver for its name, which --name gives as well: %w", err)}
	}
	return facts.Name, nil
}
