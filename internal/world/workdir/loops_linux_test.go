package workdir

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Opening a loop device that is being detached fails with ENXIO, like opening a socket.
func TestALoopDeviceThatIsBeingDetachedIsNoError(t *testing.T) {
	device := filepath.Join(t.TempDir(), "loop0")
	socket, err := net.Listen("unix", device)
	require.NoError(t, err)
	defer socket.Close()
	_, err = os.Open(device)
	require.ErrorIs(t, err, unix.ENXIO)

	freed, err := detachLoop(device, func(file, string) bool { return true })
	require.NoError(t, err)
	assert.False(t, freed)
}
