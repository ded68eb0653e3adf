package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// A new process holds copies of csisim's open files until it executes its own program. Given csisim
// starts programs on other machines, when it writes a file, then the file is not busy afterwards.
func TestStartingProgramsKeepsNoOtherMachineBusy(t *testing.T) {
	m, other := newNamespace(t), newNamespace(t)
	defer func() { require.NoError(t, m.Close()) }()
	defer func() { require.NoError(t, other.Close()) }()
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-quit:
				return
			default:
			}
			if p, err := other.Start(machine.Command{Path: "true"}); assert.NoError(t, err) {
				<-p.Done()
			}
		}
	}()
	defer func() { <-ended }()
	defer close(quit)
	source, target := machine.KubeletDir+"/source", machine.KubeletDir+"/target"
	mkdirs(t, m, source, target)
	busy := 0
	for range 1000 {
		require.NoError(t, m.BindMount(source, target, false))
		require.NoError(t, m.WriteFile(target+"/data", []byte("x"), 0o600))
		if m.Unmount(target) != nil {
			busy++
			require.Eventually(t, func() bool { return m.Unmount(target) == nil }, time.Minute, time.Millisecond)
		}
	}
	assert.Zero(t, busy)
}
