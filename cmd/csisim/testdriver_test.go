package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

func TestOptionsThatTheStorageSuiteLacksAreRefused(t *testing.T) {
	for _, given := range []struct {
		args []string
		want string
	}{
		{[]string{"--parameter", "a=b", "--", "driver"}, "volumes have parameters, and the suite's own class has none: --storage-class NAME"},
		{[]string{"--snapshot-parameter", "a=b", "--", "driver"}, "snapshots have parameters, and the suite's own class has none: --snapshot-class NAME"},
		{[]string{"--fs-group-policy", "file", "--", "driver"}, "--fs-group-policy file: want ReadWriteOnceWithFSType, File or None"},
		{nil, "no driver given"},
	} {
		refused := clitest.Run(t, append([]string{"testdriver"}, given.args...)...)
		assert.Equal(t, exitInput, refused.Code, given.args)
		assert.Contains(t, refused.Stderr, given.want)
		assert.Empty(t, refused.Stdout)
	}
}

// Errors before a driver has reported its name do not name it.
func TestADriverThatEndsBeforeItsFirstCallIsNamedByItsCommand(t *testing.T) {
	ended := clitest.Run(t, "testdriver", "--", "/bin/false")
	assert.Equal(t, exitEnvironment, ended.Code)
	assert.Contains(t, ended.Stderr, "start driver, controller: program exited before it answered: exit status 1\n  command: /bin/false\n  it wrote nothing to driver-control-plane-1.log\n")
}
