package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// filesPod mounts, but needs only the rights of an ordinary user.
const filesPod = clitest.HostdirDriver + clitest.HostdirObjects + `steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}
` + clitest.PodStep + `- delete: {pod: web}
- wait: {pod: web, gone: true}
- delete: {pvc: data}
- wait: {pv: "*", gone: true}
`

// host lists everything that a run could leave on the machine: its mount table, loop devices in
// use, processes and temporary files. Tests see only the mounts and processes of their own
// namespaces, so other processes do not change them.
func host(t *testing.T, p *place) (state []string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	state = append(state, strings.Split(string(mounts), "\n")...)
	state = append(state, p.Loops()...)
	processes, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, process := range processes {
		if _, err := strconv.Atoi(process.Name()); err != nil {
			continue
		}
		// Zombies have no command line.
		if command, _ := os.ReadFile(filepath.Join("/proc", process.Name(), "cmdline")); len(command) > 0 {
			state = append(state, process.Name()+" "+string(command))
		}
	}
	err = filepath.WalkDir(p.Dir, func(path string, _ os.DirEntry, err error) error {
		state = append(state, path)
		return err
	})
	require.NoError(t, err)
	return state
}

// Ordinary users also get separate nodes, and csisim prints the limitations.
func TestOrdinaryUsersMount(t *testing.T) {
	clitest.NeedsNamespaces(t)
	p := newPlace(t, clitest.Build(t))
	p.Write("s.yaml", clitest.Header+filesPod)
	for _, flags := range [][]string{{"-v"}, {"--isolation", "namespace", "-v"}} {
		before := host(t, p)
		c := p.Command(append([]string{"run", "s.yaml"}, flags...)...)
		p.AsUnprivileged(c)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), "NodePublishVolume")
		assert.Equal(t, 1, strings.Count(string(out),
			"csisim: nodes are kept apart by mount namespaces of an ordinary user: no loop devices, no device nodes, no change of owners"))
		assert.Equal(t, before, host(t, p))
	}
}

// A child that has left the process group, the session and the environment of its driver ends with
// the run in every case.
func TestNoChildOfADriverEscapes(t *testing.T) {
	bin := clitest.Build(t)
	for _, run := range []struct {
		name, isolation string
		nobody          bool
		way             string
		signal          syscall.Signal
		code            int
	}{
		{"a run that ends", "auto", false, "hangs once in CreateVolume", 0, 0},
		{"Ctrl-C", "auto", false, "hangs in CreateVolume", syscall.SIGINT, 130},
		{"kill -9", "auto", false, "hangs in CreateVolume", syscall.SIGKILL, -1},
		{"a run of an ordinary user that ends", "auto", true, "hangs once in CreateVolume", 0, 0},
		{"Ctrl-C of an ordinary user", "auto", true, "hangs in CreateVolume", syscall.SIGINT, 130},
		{"kill -9 of an ordinary user", "auto", true, "hangs in CreateVolume", syscall.SIGKILL, -1},
		{"a run that ends, without namespaces", "none", false, "hangs once in CreateVolume", 0, 0},
		{"Ctrl-C without namespaces", "none", true, "hangs in CreateVolume", syscall.SIGINT, 130},
	} {
		t.Run(run.name, func(t *testing.T) {
			if run.isolation == "auto" {
				clitest.NeedsNamespaces(t)
			}
			p := newPlace(t, bin)
			p.Write("s.yaml", clitest.Header+clitest.BadDriver(run.way+", leaves children", long))
			before := host(t, p)
			patience := "1h"
			if run.signal == 0 {
				patience = "1s"
			}
			c := p.Command("run", "--isolation", run.isolation, "--patience", patience, "s.yaml")
			if run.nobody {
				p.AsUnprivileged(c)
			}
			r := clitest.StartCommand(t, p.Place, c, func() bool { return len(p.children()) == 2 })
			if run.signal != 0 {
				r.Signal(t, run.signal)
			}
			assert.Equal(t, run.code, r.AwaitEnd(t, clitest.Interrupted), r.Output.String())
			r.AwaitNoPrograms(t)
			if run.signal == syscall.SIGKILL {
				clean := p.Command("clean")
				clean.SysProcAttr = c.SysProcAttr
				out, err := clean.CombinedOutput()
				require.NoError(t, err, string(out))
				assert.Regexp(t, `^removed \S+\n$`, string(out), "all but files ended with the run")
			}
			assert.Equal(t, before, host(t, p))
		})
	}
}

// children returns the processes that drivers left running, one for each driver.
func (p *place) children() (pids []int) {
	for _, pid := range p.Programs("sh") {
		if environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err == nil && !strings.Contains(string(environ), "CSISIM_RUN") {
			pids = append(pids, pid)
		}
	}
	return pids
}
