package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// Exit codes.
const (
	exitPassed      = 0
	exitFailed      = 1
	exitInput       = 2
	exitEnvironment = 3
	exitInterrupted = 130
)

// failure ends the command with a code. err is nil if the error has already been reported.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// usage returns the error for a mistake on the command line.
func usage(format string, args ...any) error {
	return &failure{code: exitInput, err: fmt.Errorf(format, args...)}
}

// unknown returns the error for a name that does not exist, with the nearest or all known names.
func unknown(what, name string, known []string) error {
	if nearest := strict.Nearest(name, known); nearest != "" {
		return fmt.Errorf("unknown %s %q; did you mean %q?", what, name, nearest)
	}
	return fmt.Errorf("unknown %s %q: there are %s", what, name, strings.Join(known, ", "))
}

// reported ends the command with a code after a report that gives the reason.
func reported(code int) error {
	if code == exitPassed {
		return nil
	}
	return &failure{code: code}
}

// failureOf adds the exit code and, for wrong usage, a hint to an error.
func failureOf(err error, command *cobra.Command) failure {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{code: codeOf(err), err: err}
		if f.code == exitFailed {
			f.code = exitInput // errors from cobra concern the command line
		}
	}
	full := *f
	if full.code == exitInput && full.err != nil && full.hint == "" {
		full.hint = fmt.Sprintf("Run '%s --help' for usage.", command.CommandPath())
	}
	return full
}

// interruptible ends this process when ctx ends, until the returned function is called. Long
// operations use it if they ignore ctx and leave nothing behind.
func interruptible(ctx context.Context) (end func() bool) {
	return context.AfterFunc(ctx, func() { os.Exit(namespaces.InterruptedCode(ctx)) })
}

// codeOf returns the exit code for an error of a run.
func codeOf(err error) int {
	var config *sim.ConfigError
	var environment *sim.EnvironmentError
	var workDir *workdir.CreateError
	var interrupted *namespaces.Interrupted
	switch {
	case err == nil:
		return exitPassed
	case errors.As(err, &interrupted):
		return 128 + int(interrupted.Signal)
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &config):
		return exitInput
	case errors.As(err, &environment), errors.As(err, &workDir):
		return exitEnvironment
	default:
		return exitFailed
	}
}
