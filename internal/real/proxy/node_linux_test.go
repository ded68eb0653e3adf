package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Commands for a node run with the mounts of its process 1, for clients with the token, and return
// their errors.
func TestANodeRunsCommandsAmongItsOwnMounts(t *testing.T) {
	if err := onNode(t.Context(), []string{"/bin/true"}, io.Discard); err != nil {
		t.Skipf("this user cannot enter the mount namespace of process 1: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- Node(ctx, NodeOptions{Address: address, Token: "secret"}) }()
	run := func(token string, command ...string) (code int, done NodeOutput) {
		text, err := json.Marshal(NodeCommand{Command: command})
		require.NoError(t, err)
		request, err := http.NewRequest(http.MethodPost, "http://"+address+"/run", bytes.NewReader(text))
		require.NoError(t, err)
		request.Header.Set(TokenHeader, token)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, done
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&done) // a refusal is plain text
		return response.StatusCode, done
	}
	require.Eventually(t, func() bool { code, _ := run("secret", "true"); return code == http.StatusOK }, time.Minute, 5*time.Millisecond)

	code, _ := run("guessed", "true")
	assert.Equal(t, http.StatusForbidden, code)
	code, _ = run("secret")
	assert.Equal(t, http.StatusBadRequest, code)

	namespace, err := os.Readlink("/proc/1/ns/mnt")
	require.NoError(t, err)
	_, done := run("secret", "readlink", "/proc/self/ns/mnt")
	assert.Equal(t, NodeOutput{Output: namespace + "\n"}, done)
	_, done = run("secret", "sh", "-c", "echo part; echo lost >&2; exit 3")
	assert.Equal(t, NodeOutput{Output: "part\n", Error: "exit status 3: lost"}, done)

	text, err := json.Marshal(NodeCommand{Command: []string{"sh", "-c", "echo $$; exec sleep 1000"}})
	require.NoError(t, err)
	request, err := http.NewRequest(http.MethodPost, "http://"+address+"/follow", bytes.NewReader(text))
	require.NoError(t, err)
	request.Header.Set(TokenHeader, "secret")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err, "it is sent while the command runs")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, 0), "it runs")
	require.NoError(t, response.Body.Close())
	assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, time.Minute, 5*time.Millisecond, "it ends with its reader")

	cancel()
	require.NoError(t, <-over)
}
