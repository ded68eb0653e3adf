package page

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/csisim/csisim/internal/driver/certificate"
)

// A thousand connections without a request delay no other client, and end.
func TestAThousandClientsThatSayNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served, _, err := certificate.New()
	require.NoError(t, err)
	at := NewPort(listener, served)
	at.silence = time.Second
	stop := Serve(at, http.NotFoundHandler())
	silent := make([]net.Conn, 1000)
	for i := range silent {
		silent[i], err = net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer silent[i].Close()
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	for _, scheme := range []string{"http://", "https://"} {
		answer, err := client.Get(scheme + listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusNotFound, answer.StatusCode)
	}
	for _, c := range silent {
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		_, err := c.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.EOF)
	}
	last, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer last.Close()
	require.NoError(t, stop(), "silent clients are not waited for")
	_ = last.SetReadDeadline(time.Now().Add(time.Minute))
	_, err = last.Read(make([]byte, 1))
	require.Error(t, err)
	assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
}
