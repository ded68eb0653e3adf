package proxy

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
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

// The driver in another container is found by its socket and ended. Stopping a missing process
// succeeds. Starting it is an error.
func TestTheProcessThatListensIsEnded(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "csi.sock")
	driver := listening(socket)
	assert.Error(t, driver.start())
	assert.NoError(t, driver.stop())
	for signal, end := range map[syscall.Signal]func() error{syscall.SIGTERM: driver.stop, syscall.SIGKILL: driver.kill} {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), asListener+"="+socket)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		t.Cleanup(func() { _ = child.Process.Kill() }) // kills only if the test failed
		_, err = bufio.NewReader(out).ReadString('\n')
		require.NoError(t, err)
		assert.NoError(t, driver.start())

		assert.NoError(t, end())
		ended := (*exec.ExitError)(nil)
		require.ErrorAs(t, child.Wait(), &ended)
		assert.Equal(t, signal, ended.Sys().(syscall.WaitStatus).Signal())
		assert.Error(t, driver.start())
	}
}
