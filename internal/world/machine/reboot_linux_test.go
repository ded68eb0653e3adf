package machine_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// processOne returns the number, outside, of process 1 of a program's machine.
func processOne(t *testing.T, p *machine.Process) int {
	namespace := func(pid string) string {
		its, _ := os.Readlink("/proc/" + pid + "/ns/pid") // the process may have ended
		return its
	}
	all, err := filepath.Glob("/proc/[0-9]*/status")
	require.NoError(t, err)
	for _, file := range all {
		pid := filepath.Base(filepath.Dir(file))
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			numbers := strings.Fields(line)
			if numbers[0] == "NSpid:" && numbers[len(numbers)-1] == "1" && namespace(pid) == namespace(strconv.Itoa(p.PID())) {
				number, err := strconv.Atoi(pid)
				require.NoError(t, err)
				return number
			}
		}
	}
	t.Fatal("the machine has no process 1")
	return 0
}

// Given a machine that loses process 1, when that is reported and the machine boots again, then its
// files exist, its mounts are lost, and programs run in namespaces as before.
func TestAMachineBootsAgainAfterTheEndOfProcessOne(t *testing.T) {
	m := ownProcesses(t)
	mkdirs(t, m, staging)
	for range 2 {
		lost := make(chan string, 1)
		m.OnLoss(func(how string) { lost <- how })
		require.NoError(t, m.WriteFile(machine.KubeletDir+"/kept", []byte("yes"), 0o600))
		run(t, m, shell("mount -t tmpfs mine "+staging))
		p, err := m.Start(shell("sleep 1h"))
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(processOne(t, p), syscall.SIGKILL))
		select {
		case how := <-lost:
			assert.Equal(t, "signal: killed", how)
		case <-time.After(time.Minute):
			t.Fatal("it is not reported")
		}
		<-p.Done()
		require.NoError(t, m.PowerOff())
		require.NoError(t, m.Reboot())
		mounts, err := m.Mounts()
		require.NoError(t, err)
		assert.Empty(t, mounts)
		assert.Equal(t, "yes", run(t, m, shell("cat "+machine.KubeletDir+"/kept")))
		assert.Equal(t, "1\n", run(t, m, shell("ls -d /proc/1 | wc -l; ls /csi")))
		assert.Equal(t, "yes", run(t, m, shell("nsenter -t 1 -m cat "+machine.KubeletDir+"/kept")))
		assert.Equal(t, "1:3\n", run(t, m, shell("stat -c %t:%T /proc/timer_list")))
		assert.NotContains(t, run(t, m, shell("cat /proc/[0-9]*/comm")), "machine.test", "it sees nothing of csisim")
	}
}
