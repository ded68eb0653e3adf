package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Commands for a node run among the mounts of its process 1, for clients with the token, and say why they fail.
func TestANodeRunsCommandsAmongItsOwnMounts(t *testing.T) {
	if _, err := onNode(t.Context(), []string{"/bin/true"}); err != nil {
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
		_ = json.NewDecoder(response.Body).Decode(&done) // a refusal is text
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

	cancel()
	require.NoError(t, <-over)
}
