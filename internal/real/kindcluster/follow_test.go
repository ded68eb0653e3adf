package kindcluster

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	kindexec "sigs.k8s.io/kind/pkg/exec"
)

// here is a node that runs its commands on this machine.
type here struct{ nodes.Node }

func (here) CommandContext(ctx context.Context, command string, args ...string) kindexec.Cmd {
	return kindexec.CommandContext(ctx, command, args...)
}

// The output of a command on a node is read line by line, at any length, and the command ends with
// its reader.
func TestTheOutputOfACommandIsFollowed(t *testing.T) {
	c := &Cluster{nodes: map[string]nodes.Node{"node-a": here{}}}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	lines, ended := make(chan string, 10), make(chan error, 1)
	go func() {
		ended <- c.Follow(ctx, "node-a", func(line string) { lines <- line }, "sh", "-c", `echo $$; printf '%0100000d\n' 7; exec sleep 1000`)
	}()
	pid, err := strconv.Atoi(<-lines)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("0", 99_999)+"7", <-lines)
	assert.NoError(t, syscall.Kill(pid, 0), "it runs")

	end()
	assert.Error(t, <-ended)
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, time.Minute, 10*time.Millisecond)
	assert.Empty(t, lines)
	assert.ErrorContains(t, c.Follow(ctx, "node-b", nil, "true"), "no node node-b")
}
