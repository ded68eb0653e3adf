package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// After a kill -9 in the middle of a run with real mounts, loop devices and the worst drivers, the
// next command removes everything that the run has left, and the host is in its former state again.
func TestAfterAKilledRunTheHostIsAsBefore(t *testing.T) {
	bin := clitest.Build(t)
	for _, way := range []string{
		"hangs in NodeUnpublishVolume, keeps its mount busy", "hangs in CreateVolume, ignores SIGTERM",
		"hangs in CreateVolume, leaves children", "hangs in CreateVolume, fills its disk",
	} {
		for _, user := range []string{"root", "an ordinary user"} {
			for _, next := range []string{"clean", "run"} {
				t.Run(fmt.Sprintf("%s, as %s, then csisim %s", way, user, next), func(t *testing.T) {
					asRoot := user == "root"
					if asRoot {
						clitest.NeedsMounts(t)
					} else {
						clitest.NeedsNamespaces(t)
					}
					killedRun(t, bin, way, asRoot, next)
				})
			}
		}
	}
}

func killedRun(t *testing.T, bin, way string, asRoot bool, next string) {
	p := newPlace(t, bin)
	p.Write("s.yaml", stuck(way, asRoot))
	p.Write("next.yaml", clitest.Header+clitest.Mocked)
	if strings.HasSuffix(way, "fills its disk") {
		require.NoError(t, exec.Command("mount", "-t", "tmpfs", "-o", "size=64m", "none", p.Work).Run())
		t.Cleanup(func() { require.NoError(t, exec.Command("umount", p.Work).Run()) })
	}
	run := p.Marked("run", "--patience", "1h", "s.yaml")
	if !asRoot {
		p.AsUnprivileged(run)
	}
	before := host(t, p)
	r := clitest.StartCommand(t, p.Place, run, p.Hangs)
	require.NotEmpty(t, r.Programs("hostdir"))
	require.NotEmpty(t, r.Programs("baddriver"))
	require.True(t, p.mountsFor("hostdir"), "there are real mounts")
	require.Equal(t, asRoot, len(p.Loops()) > 0, "root has loop devices")
	r.Signal(t, syscall.SIGKILL)
	assert.Equal(t, -1, r.AwaitEnd(t, clitest.Interrupted))
	r.AwaitNoPrograms(t)

	args := []string{next}
	if next == "run" {
		args = append(args, "next.yaml")
	}
	cleaning := p.Command(args...)
	if !asRoot {
		p.AsUnprivileged(cleaning)
	}
	out, err := cleaning.CombinedOutput()
	require.NoError(t, err, string(out))
	if next == "run" {
		assert.Contains(t, string(out), "cleaned up after 1 run that had been killed:")
	}
	if asRoot {
		assert.Contains(t, string(out), "detached /dev/loop")
	}
	assert.Contains(t, string(out), "removed "+p.Work+"/csisim-")
	require.NoError(t, os.Remove(p.Mark()))
	assert.Equal(t, before, host(t, p), string(out))
}

// stuck returns a run that hangs in a call of a bad driver, with volumes of a good driver mounted.
func stuck(way string, loops bool) string {
	_, bad, _ := strings.Cut(clitest.BadDriver(way, long), "drivers:\n")
	bad, claim, _ := strings.Cut(bad, "objects:\n")
	class, claimed, _ := strings.Cut(claim, "steps:\n")
	mounted := strings.NewReplacer("name: web", "name: good", "pod: web", "pod: good").Replace(clitest.HostdirSteps)
	if !loops {
		mounted = strings.NewReplacer(", volumeMode: Block", "", `, volumeDevices: [{name: block, devicePath: /dev/xvda}]`, "").Replace(mounted)
	}
	return clitest.Header + clitest.HostdirDriver + bad + clitest.HostdirObjects + class + mounted + claimed + clitest.PodStep + "- delete: {pod: web}\n- wait: {pod: web, gone: true}\n"
}

// mountsFor reports whether a program of this name has access to a mount of a pod.
func (p *place) mountsFor(name string) bool {
	return slices.ContainsFunc(p.Programs(name), func(pid int) bool {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
		return err == nil && strings.Contains(string(table), " /var/lib/kubelet/pods/")
	})
}
