package apiserver_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// A watch over HTTP/2 stays open while nothing happens, even for longer than a client may leave
// events unread.
func TestAnIdleWatchStaysOpen(t *testing.T) {
	noneLeft(t)
	const patience = 200 * time.Millisecond
	server := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{WatchPatience: patience})
	listener := httptest.NewUnstartedServer(server)
	listener.EnableHTTP2 = true
	listener.StartTLS()
	defer func() {
		listener.CloseClientConnections()
		listener.Close()
	}()
	const maps = "/api/v1/namespaces/default/configmaps"
	answer, err := listener.Client().Get(listener.URL + maps + "?watch=1")
	require.NoError(t, err)
	defer answer.Body.Close()
	require.Equal(t, 2, answer.ProtoMajor)
	for i, lines := 0, bufio.NewReader(answer.Body); i < 2; i++ {
		time.Sleep(3 * patience) // real time, in which nothing happens
		made := ask(server, "POST", maps, "application/json", []byte(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c-%d"}}`, i)))
		require.Equal(t, http.StatusCreated, made.Code)
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Contains(t, line, fmt.Sprintf(`"c-%d"`, i))
	}
}

// The server closes the watch of a client that does not read when the buffers between them are
// full, like the real server's watch cache. Writers do not wait for it, and watchers that read
// receive all events.
func TestWatchersThatReadNothingAreClosed(t *testing.T) {
	noneLeft(t)
	const patience = 2 * time.Second // a busy machine may delay the watcher that reads
	server := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{WatchPatience: patience})
	listener := httptest.NewServer(server)
	address := strings.TrimPrefix(listener.URL, "http://")
	const maps = "/api/v1/namespaces/default/configmaps"
	watch := func() net.Conn {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "GET %s?watch=1 HTTP/1.1\r\nHost: csisim\r\n\r\n", maps)
		require.NoError(t, err)
		return c
	}
	defer func() {
		listener.CloseClientConnections()
		listener.Close()
	}()
	var slow []net.Conn
	for range 20 {
		slow = append(slow, watch())
	}
	reading, added := watch(), make(chan int, 1)
	go func() {
		n := 0
		for lines := bufio.NewReader(reading); n < 40; {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			if strings.Contains(line, `"ADDED"`) {
				n++
			}
		}
		added <- n
	}()
	large := strings.Repeat("x", 500<<10) // 40 of them fill any socket's buffer
	for i := range 40 {
		answer := ask(server, "POST", maps, "application/json", []byte(fmt.Sprintf(
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c-%d"},"data":{"x":%q}}`, i, large)))
		require.Equal(t, http.StatusCreated, answer.Code)
	}
	assert.Equal(t, 40, <-added)
	time.Sleep(patience + time.Second) // real time, in which the patience expires for all watchers
	for _, c := range slow {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		all, err := io.ReadAll(c)
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it ends, in whatever way")
		assert.Less(t, strings.Count(string(all), `"ADDED"`), 40, "the stream broke off")
	}
}
