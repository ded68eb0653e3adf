package gogc

import (
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMain prints the effective percentage if the environment requests it.
func TestMain(m *testing.M) {
	if os.Getenv("CSISIM_TEST_GC") != "" {
		os.Stdout.WriteString(strconv.Itoa(debug.SetGCPercent(percent)))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestGarbageIsCollectedRarelyByDefault(t *testing.T) {
	for gogc, want := range map[string]string{"": "400", "50": "50"} {
		program := exec.Command(os.Args[0])
		program.Env = append(os.Environ(), "CSISIM_TEST_GC=1", "GOGC="+gogc)
		out, err := program.Output()
		require.NoError(t, err)
		assert.Equal(t, want, string(out), "GOGC=%s", gogc)
	}
}
