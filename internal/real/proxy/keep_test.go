package proxy

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A kept program that is stopped stays down until a request to start it. It ends with csisim.
func TestAKeptProgramEndsAndStartsOnRequest(t *testing.T) {
	dir := t.TempDir()
	alive, ended := filepath.Join(dir, "alive"), filepath.Join(dir, "ended")
	script := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\ntrap 'rm "+alive+"; touch "+ended+"; exit' TERM\ntouch "+alive+"\nwhile :; do sleep 0.02; done\n"), 0o755))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- Keep(ctx, KeepOptions{Command: []string{script}, Address: address, Token: "secret"}) }()
	order := func(what, token string) int {
		request, err := http.NewRequest(http.MethodPost, "http://"+address+"/driver/"+what, nil)
		require.NoError(t, err)
		request.Header.Set(TokenHeader, token)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	comes := func(file string) {
		t.Helper()
		require.Eventually(t, func() bool { _, err := os.Stat(file); return err == nil }, time.Minute, 5*time.Millisecond)
	}
	comes(alive)

	assert.Equal(t, http.StatusForbidden, order("kill", "guessed"))
	assert.NoFileExists(t, ended)

	assert.Equal(t, http.StatusOK, order("stop", "secret"))
	assert.FileExists(t, ended, "it could clean up")
	assert.NoFileExists(t, alive)

	assert.Equal(t, http.StatusOK, order("start", "secret"))
	comes(alive)
	require.NoError(t, os.Remove(ended))
	assert.Equal(t, http.StatusOK, order("kill", "secret"))
	assert.NoFileExists(t, ended, "it could not")

	require.NoError(t, os.Remove(alive))
	assert.Equal(t, http.StatusOK, order("start", "secret"))
	comes(alive)
	cancel()
	require.NoError(t, <-over)
	assert.FileExists(t, ended)
}
