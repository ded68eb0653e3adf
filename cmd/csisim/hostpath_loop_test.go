package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A driver attaches a loop device to a file of the host and leaves it behind. The report names the
// device, and the end of the run detaches it. After a kill -9, csisim clean detaches it.
func TestALoopDeviceWithAFileOfTheHostBelongsToItsRun(t *testing.T) {
	clitest.NeedsMounts(t)
	if _, err := exec.LookPath("losetup"); err != nil {
		t.Skip("it needs losetup")
	}
	bin := clitest.Build(t)
	const pod = "- apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}], " +
		"volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}}\n"
	for _, killed := range []bool{false, true} {
		way, steps := "leaves a loop device", pod+"- wait: {pod: web, phase: Running}\n- delete: {pod: web}\n- settle: {}\n"
		if killed {
			way, steps = "hangs in NodeUnpublishVolume, "+way, pod+"- wait: {pod: web, phase: Running}\n- delete: {pod: web}\n- wait: {pod: web, gone: true}\n"
		}
		p := newPlace(t, bin)
		p.Write("s.yaml", clitest.Header+clitest.BadDriver(way, long)+steps)
		dir := filepath.Join(p.Dir, "elsewhere")
		require.NoError(t, os.Mkdir(dir, 0o777))
		devicesOf := func() string { // the kernel's path of the file is not the host's
			out, _ := exec.Command("losetup", "--associated", filepath.Join(dir, "image")).Output()
			return string(out)
		}
		c := p.Command("run", "--host-path", dir, "--patience", "1h", "s.yaml")
		c.Env = append(c.Env, "ELSEWHERE="+dir)
		if !killed {
			out, err := c.CombinedOutput()
			assert.Error(t, err)
			assert.Regexp(t, `the loop device that NodePublishVolume made is still there on node-a: /dev/loop[0-9]+`, string(out))
			assert.Empty(t, devicesOf(), string(out))
			continue
		}
		r := clitest.StartCommand(t, p.Place, c, func() bool { return devicesOf() != "" })
		r.Signal(t, syscall.SIGKILL)
		r.AwaitEnd(t, clitest.Interrupted)
		r.AwaitNoPrograms(t)
		require.NotEmpty(t, devicesOf(), "it outlives the run")
		out, err := p.Command("clean").CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Regexp(t, `detached /dev/loop[0-9]+`, string(out))
		assert.Eventually(t, func() bool { return devicesOf() == "" }, time.Minute, time.Millisecond)
	}
}
