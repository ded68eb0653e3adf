package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOnlyRunsTheScenariosOfTheseNames(t *testing.T) {
	got := csisim(t, "run", "testdata/scenarios", "--only", "pass*", "--work-dir", t.TempDir())
	assert.Equal(t, 0, got.code, got.stderr)
	assert.Contains(t, got.stdout, "1 scenario: 1 passed")

	got = csisim(t, "run", "testdata/scenarios", "--only", "passses")
	assert.Equal(t, 2, got.code, got.stdout)
	assert.Contains(t, got.stderr, `--only passses: no scenario of these files has such a name; did you mean "passes"?`)
}

func TestVersionIsAFlagToo(t *testing.T) {
	command, flag := csisim(t, "version"), csisim(t, "--version")
	assert.Equal(t, 0, flag.code, flag.stderr)
	assert.Equal(t, command.stdout, flag.stdout)
	assert.Contains(t, flag.stdout, "CSI spec ")
}
