package explore

import (
	"testing"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// builtDriver returns the program of a driver.
func builtDriver(t testing.TB, name string) string {
	t.Helper()
	if refused := namespaces.Refused(); refused != nil {
		t.Skip(refused)
	}
	return clitest.BuildDriver(t, name)
}

// buildHostdir returns the reference driver.
func buildHostdir(t testing.TB) string { return builtDriver(t, "hostdir") }
