package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
)

// shipped matches the files of this repository that an example names.
var shipped = regexp.MustCompile(`\bscenarios(?:/[a-z0-9./-]+)?`)

func TestHelpNamesFilesThatExist(t *testing.T) {
	found := 0
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		for _, name := range shipped.FindAllString(c.Example, -1) {
			if c.Name() == "check" { // the example writes into a folder with this name
				continue
			}
			found++
			matches, err := filepath.Glob(filepath.Join("../..", name))
			assert.NoError(t, err)
			assert.NotEmpty(t, matches, "%s: %s", c.CommandPath(), name)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(newRoot(environment{stdout: os.Stdout, stderr: os.Stderr}))
	assert.Greater(t, found, 4)
}

// Help is at most 80 columns wide, and each flag is in one group.
func TestHelpFitsATerminal(t *testing.T) {
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		var out strings.Builder
		writeHelp(&out, c)
		for line := range strings.Lines(out.String()) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, "\n")), helpWidth, "%s: %s", c.CommandPath(), line)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				term := regexp.MustCompile(`(?m)^(  -\w,|     ) --` + f.Name + `(\[| |$)`)
				assert.Len(t, term.FindAllString(out.String(), -1), 1, "%s --%s", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				look(sub)
			}
		}
	}
	root := newRoot(environment{stdout: os.Stdout, stderr: os.Stderr})
	look(root)
	for _, group := range commandGroups {
		for _, name := range group.names {
			assert.Contains(t, commandNames(root), name)
		}
	}
}
