package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// built makes the directory of the drivers that all tests share.
var built = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "drivers") })

// builds builds each driver once.
var builds = map[string]func() (string, error){
	"hostdir": sync.OnceValues(func() (string, error) { return build("hostdir") }),
	"httpdir": sync.OnceValues(func() (string, error) { return build("httpdir") }),
}

// builtDriver returns the program of a driver that mounts.
func builtDriver(t testing.TB, name string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	program, err := builds[name]()
	require.NoError(t, err)
	return program
}

func build(name string) (string, error) {
	dir, err := built()
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-ldflags", "-s -w", "-o", dir, "../../../drivers/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", name, err, out)
	}
	return filepath.Join(dir, name), nil
}

// removeBuilt removes the drivers after the tests.
func removeBuilt() error {
	dir, err := built()
	if err != nil {
		return err
	}
	return os.RemoveAll(dir)
}
