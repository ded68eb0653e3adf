package apiserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// noneLeft checks that a test ends all goroutines that it starts.
func noneLeft(t *testing.T) {
	before := goleak.IgnoreCurrent() // tests that run in parallel to this one
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// label writes n times.
func label(t *testing.T, s *store.Store, n int) {
	for i := range n {
		_, err := store.Modify(s, store.Key{Namespace: "default", Name: "data"}, func(c *corev1.PersistentVolumeClaim) {
			c.Labels = map[string]string{"n": fmt.Sprint(i)}
		})
		require.NoError(t, err)
	}
}

// The server does not wait for a watcher that does not read, and keeps missed events only for a
// limited time. When the history has moved past its version, the watcher must start again.
func TestASlowWatcherMustStartAgain(t *testing.T) {
	noneLeft(t)
	s := kind.NewStore(store.Options{})
	server := apiserver.New(s, apiserver.Options{})
	ask(server, "POST", claims, "application/json", []byte(claimData))
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://csisim"+claims+"?watch=1&resourceVersion=0", nil)
	require.NoError(t, err)
	response, err := server.Config().Transport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	label(t, s, 25_000)
	var last metav1.WatchEvent
	events := 0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); events++ {
		require.NoError(t, json.Unmarshal(lines.Bytes(), &last))
	}
	var gone metav1.Status
	require.Equal(t, "ERROR", last.Type)
	require.NoError(t, json.Unmarshal(last.Object.Raw, &gone))
	assert.EqualValues(t, http.StatusGone, gone.Code)
	assert.Equal(t, metav1.StatusReasonExpired, gone.Reason)
	assert.Contains(t, gone.Message, "too old resource version")
	assert.Less(t, events, 25_000)
}

func TestAClosedWatchLeavesNothingBehind(t *testing.T) {
	noneLeft(t)
	s := kind.NewStore(store.Options{})
	server := apiserver.New(s, apiserver.Options{})
	ask(server, "POST", claims, "application/json", []byte(claimData))
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", "http://csisim"+claims+"?watch=1", nil)
		require.NoError(t, err)
		response, err := server.Config().Transport.RoundTrip(r)
		require.NoError(t, err)
		if i%2 == 0 {
			cancel()
		} else {
			_ = response.Body.Close()
		}
		cancel()
	}
	label(t, s, 10)
}

// A thousand idle connections, and a thousand watches without events, do not delay other clients.
func TestAThousandIdleClientsDoNotDelayOthers(t *testing.T) {
	noneLeft(t)
	server := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})
	listener := httptest.NewServer(server)
	address := strings.TrimPrefix(listener.URL, "http://")
	var open []net.Conn
	defer func() {
		listener.CloseClientConnections()
		listener.Close()
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range 1000 {
		c, err := net.Dial("tcp", address)
		require.NoError(t, err)
		open = append(open, c)
		if i%2 == 0 {
			_, err = fmt.Fprintf(c, "GET %s?watch=1 HTTP/1.1\r\nHost: csisim\r\n\r\n", claims)
			require.NoError(t, err)
		}
	}
	begun := time.Now()
	answer := ask(server, "POST", claims, "application/json", []byte(claimData))
	assert.Equal(t, http.StatusCreated, answer.Code)
	response, err := http.Get(listener.URL + claims + "/data")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	assert.Less(t, time.Since(begun), time.Minute)
	_ = open[0].SetReadDeadline(time.Now().Add(time.Minute))
	got := bufio.NewReader(open[0])
	for line := ""; !strings.Contains(line, `"ADDED"`); {
		line, err = got.ReadString('\n')
		require.NoError(t, err, "the watch tells of the write")
	}
}

// The watch of a custom kind ends when its definition is deleted.
func TestAWatchEndsWithItsDefinition(t *testing.T) {
	noneLeft(t)
	c := converse(t)
	c.post(definitionsPath, widgets)
	c.post(widgetsPath, widget("w", "{}"))
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://csisim"+widgetsPath+"?watch=1&resourceVersion=0", nil)
	require.NoError(t, err)
	response, err := c.server.Config().Transport.RoundTrip(r)
	require.NoError(t, err)
	defer response.Body.Close()
	c.say("DELETE", definitionsPath+"/widgets.example.com", "", "")
	var types []string
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		var event metav1.WatchEvent
		require.NoError(t, json.Unmarshal(lines.Bytes(), &event))
		types = append(types, event.Type)
	}
	assert.Equal(t, []string{"ADDED", "DELETED"}, types)
}

// A client that sends its body slowly does not block other clients.
func TestASlowBodyBlocksNoOtherClient(t *testing.T) {
	noneLeft(t)
	server := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})
	listener := httptest.NewServer(server)
	defer listener.Close()
	c, err := net.Dial("tcp", strings.TrimPrefix(listener.URL, "http://"))
	require.NoError(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: csisim\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", claims)
	require.NoError(t, err)
	answer := ask(server, "POST", claims, "application/json", []byte(claimData))
	assert.Equal(t, http.StatusCreated, answer.Code)
}
