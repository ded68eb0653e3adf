// Package report shows people and machines how scenarios went: as text on a
// terminal or in a pipe, as JUnit XML, as annotations in a pull request.
package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Run is one scenario that was run, and how.
type Run struct {
	// Name is what it is called. Default: the scenario's name, else its file.
	Name string
	// File is the scenario's file as the user named it; empty if there is none.
	File string
	// Result is how it went; nil if it could not be run.
	Result *scenario.Result
	// Err says why it could not be run, or what went wrong beside its
	// expectations. Default: nothing.
	Err error
	// Strategy and Seed are those of the run, for the command that replays it.
	// Default: calm.
	Strategy string
	Seed     uint64
	// Flags are further arguments that a replay needs.
	Flags []string
	// Trace is the file that holds the trace; empty if none was written.
	Trace string
	// Page is the file with the report for a browser; empty if none was written.
	Page string
	// Logs is the directory with the output of driver programs; empty if it was not kept.
	Logs string
	// Again is the command that makes the same run again. Default: Program run with
	// the file, strategy, seed and flags.
	Again string
	// Program is csisim as its user calls it. Default: csisim.
	Program string
	// Blame says whose doing is what was found; empty if nobody judged it.
	Blame string
	// NotTried says why it was not run; empty if it was.
	NotTried string
}

// Passed reports whether all that the scenario expects came about.
func (r Run) Passed() bool {
	return r.Err == nil && r.Result != nil && r.Result.Exit == scenario.Passed
}

// Replay is the command that makes the same run again.
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

// Quoted is a word as a shell must be given it.
func Quoted(word string) string {
	if word != "" && strings.Trim(word, shellSafe) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

const shellSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,@+"
