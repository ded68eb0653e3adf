package explore

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/fault"
)

// Given a scenario with driver programs, when processes make its runs, then the search has the same
// findings as without them, and no process is left.
func TestProcessesMakeRunsWithPrograms(t *testing.T) {
	hostdir := buildHostdir(t)
	text := withProgram(t, "lifecycle", hostdir, "--broken=create-not-idempotent")
	search := func(processes bool) *Search {
		o := usual(40)
		o.Space, o.Jobs, o.Processes = fault.Space{Kinds: []fault.Kind{fault.Lost, fault.Killed}, Budget: 2}, 4, processes
		s, err := Of(t.Context(), fileOf("lifecycle"), text, o)
		require.NoError(t, err)
		return s
	}
	here, there := search(false), search(true)
	require.NotEmpty(t, failing(here))
	assert.Equal(t, failing(here), failing(there))
	assert.Equal(t, here.Happened, there.Happened)
	assert.Equal(t, here.Usage() == nil, there.Usage() == nil)
	assert.NotEmpty(t, there.Findings[0].Story)
	assert.Empty(t, processesThatMakeRuns(t))
}

// failing returns the names of the failures. It omits hazards, which vary with the duration of
// programs.
func failing(s *Search) []string {
	return namesOf(slices.DeleteFunc(slices.Clone(s.Findings), func(f *Finding) bool { return !f.Fails() }))
}

// Given a search with processes that make runs, when it is interrupted, then it ends with the
// findings so far, and no process is left.
func TestASearchWithProcessesIsInterrupted(t *testing.T) {
	text := withProgram(t, "lifecycle", buildHostdir(t))
	ctx, interrupt := context.WithCancel(t.Context())
	o := usual(0)
	o.Time, o.Jobs, o.Processes = time.Hour, 4, true
	o.Progress = func(s *Search) {
		if s.Runs == 5 {
			assert.Len(t, processesThatMakeRuns(t), processesFor(t, o.Jobs))
			interrupt()
		}
	}
	s, err := Of(ctx, fileOf("lifecycle"), text, o)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, s.Runs, 5)
	assert.Empty(t, processesThatMakeRuns(t))
}

// Given a search with processes that make runs, when one is killed, then the search reports it in
// one sentence, and the others end.
func TestASearchReportsThatAProcessWasKilled(t *testing.T) {
	text := withProgram(t, "lifecycle", buildHostdir(t))
	if processesFor(t, 2) == 0 {
		t.Skip("there is one processor")
	}
	o := usual(0)
	o.Time, o.Jobs, o.Processes = time.Hour, 4, true
	o.Progress = func(s *Search) {
		if s.Runs == 5 {
			require.NoError(t, unix.Kill(processesThatMakeRuns(t)[0], unix.SIGKILL))
		}
	}
	s, err := Of(t.Context(), fileOf("lifecycle"), text, o)
	assert.GreaterOrEqual(t, s.Runs, 5, "the runs before it count")
	assert.ErrorContains(t, err, "make runs: a process of csisim has ended: signal: killed")
	assert.Empty(t, processesThatMakeRuns(t))
}

// processesFor returns the number of processes for a number of jobs.
func processesFor(t *testing.T, jobs int) int {
	cpus, err := processors()
	require.NoError(t, err)
	if len(cpus) < 2 {
		return 0
	}
	return min(len(cpus), jobs)
}

// processesThatMakeRuns returns the numbers of this process's children that make runs.
func processesThatMakeRuns(t *testing.T) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, stat := range stats {
		var pid, parent int
		var state string
		text, _ := os.ReadFile(stat) // empty after its end
		_, after, _ := strings.Cut(string(text), ") ")
		if n, _ := fmt.Sscan(after, &state, &parent); n < 2 || parent != os.Getpid() {
			continue
		}
		_, err := fmt.Sscan(string(text), &pid)
		require.NoError(t, err)
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(stat), "environ"))
		if bytes.Contains(environment, []byte(variable+"=")) {
			pids = append(pids, pid)
		}
	}
	return pids
}
