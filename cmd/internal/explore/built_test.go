package explore

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// drivers is the directory of the drivers that all tests share.
var drivers string

// builds builds each driver once.
var builds = map[string]func() error{
	"hostdir": sync.OnceValue(func() error { return build("hostdir") }),
	"httpdir": sync.OnceValue(func() error { return build("httpdir") }),
}

func build(name string) error {
	out, err := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", drivers, "../../../drivers/"+name).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return nil
}

// builtDriver returns the program of a driver.
func builtDriver(t testing.TB, name string) string {
	t.Helper()
	if refused := namespaces.Refused(); refused != nil {
		t.Skip(refused)
	}
	require.NoError(t, builds[name]())
	return filepath.Join(drivers, name)
}

// buildHostdir returns the reference driver.
func buildHostdir(t testing.TB) string { return builtDriver(t, "hostdir") }
