// Package report renders the results of scenarios for people and machines: as text on a terminal or
// in a pipe, as JUnit XML, and as annotations in a pull request.
package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Run is one scenario that was run, with its options.
type Run struct {
	// Name is the name of the run. Default: the scenario's name; if it has none, its file.
	Name string
	// File is the scenario's file as the user named it; empty if there is none.
	File string
	// Result is the result; nil if it could not be run.
	Result *scenario.Result
	// Err is the reason why it could not be run, or an error besides its expectations. Default:
	// nil.
	Err error
	// Strategy and Seed belong to the run, for the command that repeats it. Default: calm.
	Strategy string
	Seed     uint64
	// Flags are further arguments of a replay.
	Flags []string
	// Trace is the file that holds the trace; empty if none was written.
	Trace string
	// Page is the file with the report for a browser; empty if none was written.
	Page string
	// Logs is the directory with the output of driver programs; empty if it was not kept.
	Logs string
	// Again is the command that repeats the run. Default: Program run with the file, strategy, seed
	// and flags.
	Again string
	// Program is the name by which the user calls csisim. Default: csisim.
	Program string
	// Versions are the versions of csisim and of the simulated Kubernetes, for a page. Default: not
	// shown.
	Versions string
	// Blame names the party responsible for the finding; empty if it was not determined.
	Blame string
	// NotTried is the reason why it was not run; empty if it was.
	NotTried string
	// Known names the known findings of the run, if it has no other findings; otherwise empty.
	Known string
}

// Passed reports whether all expectations of the scenario held.
func (r Run) Passed() bool {
	return r.Err == nil && r.Result != nil && r.Result.Exit == scenario.Passed
}

// Replay returns the command that repeats the run.
func (r Run) Replay() string {
	if r.Again != "" {
		return r.Again
	}
	words := []string{cmp.Or(r.Program, "csisim"), "run", Quoted(r.File)}
	if r.Strategy != "" && r.Strategy != "calm" {
		words = append(words, "--strategy", r.Strategy, "--seed", strconv.FormatUint(r.Seed, 10))
	}
	for _, flag := range r.Flags {
		words = append(words, Quoted(flag))
	}
	return strings.Join(words, " ")
}

// Quoted quotes a word for a shell.
func Quoted(word string) string {
	if word != "" && strings.Trim(word, shellSafe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@+"
