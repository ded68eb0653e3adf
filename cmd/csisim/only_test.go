package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

func TestOnlyRunsTheScenariosOfTheseNames(t *testing.T) {
	got := clitest.Run(t, "run", "testdata/scenarios", "--only", "pass*", "--work-dir", t.TempDir())
	assert.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "1 scenario: 1 passed")

	got = clitest.Run(t, "run", "testdata/scenarios", "--only", "passses")
	assert.Equal(t, 2, got.Code, got.Stdout)
	assert.Contains(t, got.Stderr, `--only passses: no scenario of these files has such a name; did you mean "passes"?`)
}

func TestVersionIsAFlagToo(t *testing.T) {
	command, flag := clitest.Run(t, "version"), clitest.Run(t, "--version")
	assert.Equal(t, 0, flag.Code, flag.Stderr)
	assert.Equal(t, command.Stdout, flag.Stdout)
	assert.Contains(t, flag.Stdout, "CSI spec ")
}
