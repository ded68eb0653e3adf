package machine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a program that attaches a loop device. When the machine loses power, then the device is
// detached, as after any boot.
func TestAMachineLosesItsLoopDevicesWithItsPower(t *testing.T) {
	if _, err := exec.LookPath("losetup"); err != nil || os.Geteuid() != 0 {
		t.Skip("takes losetup(8) and root")
	}
	m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	c := shell("cd " + m.ProgramPath(machine.KubeletDir) + "; truncate -s 1M image && losetup -f --show image && sleep 60")
	c.Followed, c.Stdout = true, filepath.Join(t.TempDir(), "out.log")
	_, err = m.Start(c)
	require.NoError(t, err)
	var device string
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(c.Stdout)
		device = strings.TrimSpace(string(text))
		return device != ""
	}, time.Minute, 10*time.Millisecond)
	attached := filepath.Join("/sys/block", filepath.Base(device), "loop/backing_file")
	require.FileExists(t, attached)

	require.NoError(t, m.PowerOff())
	text, _ := os.ReadFile(attached)
	assert.NotContains(t, string(text), "/image", "another process may have attached the device since")
}
