package clitest

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// driverBuilds has a function for each driver that builds it once.
var driverBuilds sync.Map

// BuildDriver returns the program of a driver of this module.
func BuildDriver(t testing.TB, name string) string {
	t.Helper()
	build, _ := driverBuilds.LoadOrStore(name, sync.OnceValue(func() error { return goBuild("./drivers/" + name) }))
	require.NoError(t, build.(func() error)())
	return filepath.Join(Binaries, name)
}
