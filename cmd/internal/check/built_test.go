package check_test

import (
	"os"
	"testing"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// builtDriver returns the program of a driver that mounts.
func builtDriver(t testing.TB, name string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	return clitest.BuildDriver(t, name)
}
