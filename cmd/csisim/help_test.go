package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// shipped matches the files of this repository that an example names.
var shipped = regexp.MustCompile(`\bscenarios(?:/[a-z0-9./-]+)?`)

func TestHelpNamesFilesThatExist(t *testing.T) {
	found := 0
	var look func(*cobra.Command)
	look = func(c *cobra.Command) {
		for _, name := range shipped.FindAllString(c.Example, -1) {
			if c.Name() == "check" { // writes into a folder of that name
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
