package program_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/world/machine"
)

func TestAProgramIsStartedOnceItAnswers(t *testing.T) {
	d := newDisk(t)
	s := spec(t, "good")
	p, err := program.Start(t.Context(), d, s)
	require.NoError(t, err)

	assert.True(t, p.Running())
	assert.Empty(t, p.Exit())
	assert.Equal(t, filepath.Join(s.LogDir, "tiny.csi.example.com-node-a-1.log"), p.Log())
	text, err := os.ReadFile(p.Log())
	require.NoError(t, err)
	assert.Contains(t, string(text), "tiny driver, mode good")
}

func TestAKilledProgramLeavesItsSocketAndCanBeRestarted(t *testing.T) {
	d := newDisk(t)
	s := spec(t, "good")
	p, err := program.Start(t.Context(), d, s)
	require.NoError(t, err)

	require.NoError(t, p.Kill())
	assert.False(t, p.Running())
	assert.Equal(t, "signal: killed", p.Exit())
	info, err := d.Lstat(socket)
	require.NoError(t, err)
	assert.Equal(t, fs.ModeSocket, info.Mode().Type())

	require.NoError(t, p.Restart(t.Context()))
	assert.True(t, p.Running())
	assert.Equal(t, filepath.Join(s.LogDir, "tiny.csi.example.com-node-a-2.log"), p.Log(), "each instance has its log")
}

func TestStopIsTerminationAndThenKill(t *testing.T) {
	for mode, want := range map[string]string{"good": "signal: terminated", "stubborn": "signal: killed"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p, err := program.Start(t.Context(), newDisk(t), spec(t, mode))
			require.NoError(t, err)
			require.NoError(t, p.Stop())
			assert.Equal(t, want, p.Exit())
			assert.False(t, p.Running())
		})
	}
}

func TestAProgramThatTakesTooMuchMemoryIsKilled(t *testing.T) {
	s := spec(t, "greedy")
	s.Memory = 128 << 20
	p, err := program.Start(t.Context(), newDisk(t), s)
	require.NoError(t, err)
	<-p.Done()
	assert.Equal(t, "killed by csisim: it had more memory than the 128 MiB that it may have", p.Exit())
	assert.Greater(t, p.Process().PeakMemory(), int64(128<<20))
	require.NoError(t, p.Restart(t.Context()), "it is as good as one that died")
	require.NoError(t, p.Kill())
}

func TestSeveralProgramsAreGivenTheirGraceAtOnce(t *testing.T) {
	var all []*program.Program
	for range 10 {
		p, err := program.Start(t.Context(), newDisk(t), spec(t, "stubborn"))
		require.NoError(t, err)
		all = append(all, p)
	}
	began := time.Now()
	require.NoError(t, program.StopAll(all))
	assert.Less(t, time.Since(began), 19*time.Second, "one after the other they would take 2 s each")
	for _, p := range all {
		assert.Equal(t, "signal: killed", p.Exit())
	}
}

func TestAnInterruptEndsTheWaitForAProgram(t *testing.T) {
	enough := errors.New("the user had enough")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, enough)
	defer cancel()
	_, err := program.Start(ctx, newDisk(t), spec(t, "deaf"))
	assert.ErrorIs(t, err, enough)
}

func TestTheErrorsOfAProgramThatDoesNotServe(t *testing.T) {
	script := func(t *testing.T, perm fs.FileMode, text string) string {
		file := filepath.Join(t.TempDir(), "driver.sh")
		require.NoError(t, os.WriteFile(file, []byte(text), perm))
		return file
	}
	const patience = time.Second // the test binary starts slowly
	for name, tt := range map[string]struct {
		mode    string
		timeout time.Duration // default: long, the failure is noticed at once
		change  func(t *testing.T, s *program.Spec)
		is      error
		says    []string
	}{
		"a path that does not exist": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{"/no/such/driver"} },
			is:     program.ErrNotFound, says: []string{"/no/such/driver", "build it first"},
		},
		"a name that is not in PATH": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{"no-such-driver-anywhere"} },
			is:     program.ErrNotFound, says: []string{"not in PATH"},
		},
		"no execute permission": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{script(t, 0o644, "#!/bin/sh\n")} },
			is:     program.ErrNotExecutable, says: []string{"chmod +x"},
		},
		"a directory": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{t.TempDir()} },
			is:     program.ErrNotExecutable,
		},
		"neither binary nor script": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{script(t, 0o755, "echo hello\n")} },
			is:     program.ErrNotExecutable, says: []string{"#!"},
		},
		"a script without its interpreter": {
			change: func(t *testing.T, s *program.Spec) { s.Command = []string{script(t, 0o755, "#!/no/such/shell\n")} },
			is:     program.ErrNotFound, says: []string{"interpreter"},
		},
		"it exits at once": {
			mode: "exit", is: program.ErrExited,
			says: []string{"exit status 3", "the end of tiny.csi.example.com-node-a-1.log:", "no backend configured"},
		},
		"it never listens": {
			mode: "deaf", timeout: patience, is: program.ErrNotListening,
			says: []string{"{{.Endpoint}}", "waited 1s", "tiny driver, mode deaf"},
		},
		"it speaks no gRPC": {
			mode: "garbage", timeout: patience, is: program.ErrNotCSI, says: []string{"csi.sock"},
		},
		"it accepts and is silent": {
			mode: "silent", timeout: patience, is: program.ErrNotCSI, says: []string{"no answer to Identity/Probe"},
		},
		"it speaks gRPC but no CSI": {
			mode: "not csi", is: program.ErrNotCSI, says: []string{"it has no Identity/Probe"},
		},
		"it answers another name": {
			mode: "other name", is: program.ErrWrongDriver,
			says: []string{`"other.csi.example.com"`, `"tiny.csi.example.com" is configured`},
		},
		"it is not ready for ever": {
			mode: "not ready", timeout: patience, is: program.ErrNotReady, says: []string{"ready=false"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := spec(t, tt.mode)
			if tt.timeout > 0 {
				s.StartTimeout = tt.timeout
			}
			if tt.change != nil {
				tt.change(t, &s)
			}
			p, err := program.Start(t.Context(), newDisk(t), s)
			assert.Nil(t, p)
			var failed *program.StartError
			require.ErrorAs(t, err, &failed)
			assert.ErrorIs(t, err, tt.is)
			assert.Equal(t, driverName+" on node-a", failed.Driver+" on "+failed.Node)
			for _, words := range tt.says {
				assert.ErrorContains(t, err, words)
			}
		})
	}
}

// frozen is a computer that is suspended with all of its programs. The suspension begins at the
// first check of its files, and lasts until the driver has started to serve and the driver's time
// is over.
type frozen struct {
	machine.Machine
	thaw func()
}

func (f *frozen) Lstat(path string) (fs.FileInfo, error) {
	info, err := f.Machine.Lstat(path)
	if thaw := f.thaw; thaw != nil {
		f.thaw = nil
		thaw()
	}
	return info, err
}

func TestADriverThatServesAfterASuspendHasStarted(t *testing.T) {
	m := &frozen{Machine: newDisk(t)}
	s := spec(t, "good")
	s.StartTimeout = 50 * time.Millisecond
	m.thaw = func() {
		require.Eventually(t, func() bool { _, err := m.Machine.Lstat(socket); return err == nil }, time.Minute, time.Millisecond)
		time.Sleep(s.StartTimeout)
	}
	p, err := program.Start(t.Context(), m, s)
	require.NoError(t, err)
	assert.True(t, p.Running())
	require.NoError(t, p.Stop())
}

func TestASocketPathThatIsTooLongIsRefusedBeforeTheStart(t *testing.T) {
	s := spec(t, "good")
	s.Socket = machine.KubeletDir + "/plugins/" + strings.Repeat("long-", 20) + "/csi.sock"
	_, err := program.Start(t.Context(), newDisk(t), s)
	var tooLong *machine.SocketPathError
	require.ErrorAs(t, err, &tooLong)
	assert.ErrorContains(t, err, "the limit is 107")
	logs, err := os.ReadDir(s.LogDir)
	require.NoError(t, err)
	assert.Empty(t, logs)
}

func TestTheTailOfALogIsItsLastLines(t *testing.T) {
	s := spec(t, "")
	s.Command = []string{"/bin/sh", "-c", `for n in $(seq 3000); do echo "line $n"; done; exit 1`}
	_, err := program.Start(t.Context(), newDisk(t), s)
	var failed *program.StartError
	require.ErrorAs(t, err, &failed)
	require.Len(t, failed.Tail, 10)
	assert.Equal(t, "line 2991", failed.Tail[0])
	assert.Equal(t, "line 3000", failed.Tail[9])
}

func TestTemplatesAreFilledIn(t *testing.T) {
	d := newDisk(t)
	s := spec(t, "")
	s.NodeID, s.StateDir, s.NodeStateDir = "id-a", filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "node")
	s.Command = []string{"/bin/sh", "-c", `printf '%s\n' "$@" "$WHERE"; pwd; exit 1`, "sh",
		"{{.Endpoint}}", "{{.Socket}}", "{{.NodeID}}", "{{.NodeName}}", "{{.StateDir}}", "{{.NodeStateDir}}", "{{.KubeletDir}}", "{{.Driver}}"}
	s.Env["WHERE"] = "on {{.NodeName}}"
	_, err := program.Start(t.Context(), d, s)
	var failed *program.StartError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, []string{
		"unix://" + d.ProgramPath(socket), d.ProgramPath(socket), "id-a", "node-a", s.StateDir, s.NodeStateDir,
		d.ProgramPath(machine.KubeletDir), driverName, "on node-a", d.ProgramPath(machine.KubeletDir),
	}, failed.Tail)
	assert.DirExists(t, s.StateDir)
	assert.DirExists(t, s.NodeStateDir)
}

func TestTheNodeIDIsTheNodeNameByDefault(t *testing.T) {
	s := spec(t, "")
	s.Command = []string{"/bin/sh", "-c", "echo {{.NodeID}}; exit 1"}
	_, err := program.Start(t.Context(), newDisk(t), s)
	var failed *program.StartError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, []string{"node-a"}, failed.Tail)
}

func TestMistakesInTemplatesAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(s *program.Spec)
		says   []string
	}{
		"unknown field in an argument": {
			func(s *program.Spec) { s.Command = append(s.Command, "--node={{.Nodename}}") },
			[]string{"command word 2", "Nodename", "known fields: Endpoint, Socket, NodeID, NodeName"},
		},
		"unknown field in the environment": {
			func(s *program.Spec) { s.Env["NODE"] = "{{.Host}}" },
			[]string{"environment variable NODE", "Host"},
		},
		"broken template": {
			func(s *program.Spec) { s.Dir = "{{.Socket" },
			[]string{"working directory", "unclosed action"},
		},
		"no command": {
			func(s *program.Spec) { s.Command = nil },
			[]string{"want the program and its arguments"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := spec(t, "good")
			tt.change(&s)
			_, err := program.Start(t.Context(), newDisk(t), s)
			for _, words := range tt.says {
				assert.ErrorContains(t, err, words)
			}
		})
	}
}

func TestAMachineInMemoryRunsNoPrograms(t *testing.T) {
	_, err := program.Start(t.Context(), machine.NewMemory("node-a"), spec(t, "good"))
	assert.ErrorContains(t, err, "cannot run programs")
}
