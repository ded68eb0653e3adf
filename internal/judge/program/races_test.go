package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A map without a lock: the detector also reports the functions of package runtime.
const raceOfMap = `WARNING: DATA RACE
Read at 0x00c00011a2d0 by goroutine 41:
  runtime.mapaccess1_faststr()
      /usr/local/go/src/internal/runtime/maps/runtime_faststr.go:101 +0x29c
  example.com/driver/service.(*locks).Enter()
      /src/service/exclusive.go:26 +0x4f

Previous write at 0x00c00011a2d0 by goroutine 40:
  runtime.mapassign_faststr()
      /usr/local/go/src/internal/runtime/maps/runtime_faststr.go:263 +0x0
  example.com/driver/service.(*locks).Enter()
      /src/service/exclusive.go:29 +0x8b

Goroutine 41 (running) created at:
  google.golang.org/grpc.(*Server).serveStreams()
      /go/grpc/server.go:1060 +0x3d
==================
`

func TestARaceIsInTheFunctionOfTheDriver(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(log, []byte(raceOfMap), 0o600))
	races := racesIn(log)
	require.Len(t, races, 1)
	assert.Equal(t, "data race in service.(*locks).Enter: exclusive.go:26 and exclusive.go:29 of driver d", DataRace("driver d", races[0]).Text)
}
