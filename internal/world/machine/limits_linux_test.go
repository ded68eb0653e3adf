package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// limited returns a machine that can limit its programs.
func limited(t *testing.T) *machine.Disk {
	m := ownProcesses(t)
	if !machine.CanLimit() {
		t.Skip("no control groups may be made here")
	}
	return m
}

func TestAProgramThatForksForEverReachesItsLimit(t *testing.T) {
	m, dir := limited(t), image(t)
	bomb := inRoot(machine.Root{Dir: dir}, "f() { f | f & }; f; while :; do :; done")
	bomb.Limits.Processes = 50
	neighbour, err := m.Start(inRoot(machine.Root{Dir: dir}, "while :; do :; done"))
	require.NoError(t, err)
	p, err := m.Start(bomb)
	require.NoError(t, err)
	assert.Equal(t, "out\n", run(t, m, inRoot(machine.Root{Dir: dir}, "echo out")), "others start beside it")
	require.NoError(t, p.Kill())
	require.NoError(t, neighbour.Signal(0), "others run on")
	require.NoError(t, neighbour.Kill())
	assert.Equal(t, 1, strings.Count(run(t, m, inRoot(machine.Root{Dir: dir, HostProcesses: true}, processes)), " sh\n"), "nothing is left")
	assert.Empty(t, groupsLeft(t))

	c := inRoot(machine.Root{Dir: dir}, "i=0; while i=$((i+1)); [ $i -lt 60 ]; do (while :; do :; done) & done")
	c.Limits.Processes = 40
	c.Stderr = filepath.Join(t.TempDir(), "errors")
	p, err = m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	assert.NotZero(t, p.ExitCode())
	text, err := os.ReadFile(p.Stderr)
	require.NoError(t, err)
	assert.Regexp(t, "(?i)cannot fork|resource temporarily unavailable", string(text))
}

func TestAProgramThatTakesTooMuchMemoryIsKilled(t *testing.T) {
	m, dir := limited(t), image(t)
	c := inRoot(machine.Root{Dir: dir}, `x=0123456789abcdef; while :; do x=$x$x; done`)
	c.Limits.Memory = 32 << 20
	p, err := m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	assert.Equal(t, 128+9, p.ExitCode())
	assert.True(t, p.OutOfMemory())
	assert.Empty(t, groupsLeft(t))

	p, err = m.Start(inRoot(machine.Root{Dir: dir}, "exit 3"))
	require.NoError(t, err)
	<-p.Done()
	assert.False(t, p.OutOfMemory())
}

// groupsLeft returns the control groups of this process.
func groupsLeft(t *testing.T) []string {
	left, err := filepath.Glob("/sys/fs/cgroup/*/csisim-*")
	require.NoError(t, err)
	deeper, err := filepath.Glob("/sys/fs/cgroup/*/*/*/csisim-*")
	require.NoError(t, err)
	var own []string
	for _, dir := range append(left, deeper...) {
		if strings.Contains(dir, machine.OwnGroups()) {
			own = append(own, dir)
		}
	}
	return own
}

// Given a program that waits, and then needs more memory than its limit, when the limit is raised
// while it waits, then it survives.
func TestALimitChangesWhileAProgramRuns(t *testing.T) {
	m, dir := limited(t), image(t)
	c := inRoot(machine.Root{Dir: dir}, `read go; x=0123456789abcdef; while [ ${#x} -lt 40000000 ]; do x=$x$x; done`)
	c.Limits.Memory, c.Stdin, c.StdinOnce = 64<<20, true, true
	c.Stdout = filepath.Join(t.TempDir(), "log")
	c.Stderr, c.Began = c.Stdout, time.Now()
	p, err := m.Start(c)
	require.NoError(t, err)
	require.NoError(t, p.Limit(machine.Limits{Memory: 512 << 20}))
	require.NoError(t, p.Attach(t.Context(), machine.Stdio{In: strings.NewReader("go\n")}))
	<-p.Done()
	assert.False(t, p.OutOfMemory())
	assert.Zero(t, p.ExitCode())
	assert.NoError(t, p.Limit(machine.Limits{Memory: 1 << 20}), "there is nothing to limit any more")
	assert.Empty(t, groupsLeft(t))
}

// Given memory limits that csisim's own binary exceeds before it executes the container's program,
// when programs are started with them, then each program starts or its error gives the reason. The
// machine can be closed afterwards.
func TestALimitThatIsReachedBeforeTheProgramStarts(t *testing.T) {
	m, dir := limited(t), image(t)
	for memory := int64(1 << 20); memory < 7<<18; memory += 16 << 10 {
		c := inRoot(machine.Root{Dir: dir}, "exit 3")
		c.Limits.Memory = memory
		p, err := m.Start(c)
		if err != nil {
			assert.ErrorContains(t, err, "container init was OOM-killed (memory limit too low?)")
			continue
		}
		<-p.Done()
		assert.True(t, p.OutOfMemory() || p.ExitCode() == 3, "%d", p.ExitCode())
	}
	assert.Empty(t, groupsLeft(t))
}
