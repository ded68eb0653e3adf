package main

import (
	"crypto/rand"
	"strings"

	"github.com/spf13/pflag"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
)

// notForReplay are flags that do not change the run of a scenario, or that the replay sets itself.
var notForReplay = map[string]bool{
	"budget": true, "deep": true, "parallel": true, "only": true, "print": true, "out": true, "junit": true, "json": true, "summary": true, "verbose": true, "keep": true,
	"report": true, "allow-untried": true, "known": true, "write-known": true, "save": true,
}

// chooseNames makes the names of volumes differ from those of other checks, unless the user sets
// --names. Other checks may use the same backend. A replay uses the same names, except for a driver
// on a socket, because that driver still has the volumes.
func (f *checkFlags) chooseNames(flags *pflag.FlagSet, s check.Subject) error {
	switch {
	case f.names != "":
		return nil
	case s.Driver.Socket != nil:
		f.names = rand.Text()
		return nil
	}
	return flags.Set("names", strings.ToLower(rand.Text()[:8]))
}

// replayOf returns a function that builds the command which runs one scenario again.
func replayOf(flags *pflag.FlagSet, args []string) func(*check.Trial) string {
	var given []string
	flags.Visit(func(flag *pflag.Flag) {
		if notForReplay[flag.Name] {
			return
		}
		for _, value := range valuesOf(flag.Value) {
			word := "--" + flag.Name
			if value != "" || flag.NoOptDefVal == "" {
				word += "=" + value
			}
			given = append(given, report.Quoted(word))
		}
	})
	return func(t *check.Trial) string {
		words := append([]string{self(), "check", "--only", report.Quoted(t.Name())}, given...)
		if len(args) > 0 {
			words = append(words, "--")
		}
		for _, arg := range args {
			words = append(words, report.Quoted(arg))
		}
		return strings.Join(words, " ")
	}
}

// valuesOf returns the values of a repeatable flag.
func valuesOf(value pflag.Value) []string {
	switch v := value.(type) {
	case *pairsFlag:
		return v.words()
	case pflag.SliceValue:
		return v.GetSlice()
	}
	return []string{value.String()}
}
