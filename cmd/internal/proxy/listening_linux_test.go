package proxy

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// asListener makes the test binary listen at a socket until it is ended.
const asListener = "CSISIM_TEST_LISTEN_AT"

func init() {
	if socket := os.Getenv(asListener); socket != "" {
		if _, err := bind(socket); err != nil {
			panic(err)
		}
		os.Stdout.WriteString("listening\n")
		select {}
	}
}

// The driver in another container is found by its socket and ended; one that is not there is no error, but has not started.
func TestTheProcessThatListensIsEnded(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "csi.sock")
	driver := listening(socket)
	assert.Error(t, driver.start())
	assert.NoError(t, driver.stop())
	for _, end := range []func() error{driver.stop, driver.kill} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), asListener+"="+socket)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		assert.NoError(t, driver.start())

		assert.NoError(t, end())
		assert.Error(t, child.Wait(), "it was ended by a signal")
		assert.Error(t, driver.start())
	}
}
