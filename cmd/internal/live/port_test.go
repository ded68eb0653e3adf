package live

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// The API and the page share one port, with TLS for clients that begin with a handshake.
func TestOnePortServesTheAPIAndThePageWithAndWithoutTLS(t *testing.T) {
	l := startUp(t)
	config, err := clientcmd.LoadFromFile(l.kubeconfig())
	require.NoError(t, err)
	cluster, token := config.Clusters["csisim"], config.AuthInfos["csisim"].Token
	host := strings.TrimPrefix(cluster.Server, "https://")
	opened := strings.TrimSpace(clitest.RunIn(t, l.environment(), "get", "page").Stdout)
	assert.True(t, strings.HasPrefix(opened, "http://"+host+"/?token="), opened)
	_, pageToken, _ := strings.Cut(opened, "=")

	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(cluster.CertificateAuthorityData))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	for _, test := range []struct {
		path, token string
		code        int
		says        string
	}{
		{"/api/v1/nodes", token, http.StatusOK, "node-b"},
		{"/api/v1/nodes", "", http.StatusUnauthorized, "Unauthorized"},
		{"/api/v1/nodes", pageToken, http.StatusUnauthorized, "Unauthorized"},
		{"/", token, http.StatusUnauthorized, "it carries the token"},
		{"/?token=" + token, "", http.StatusUnauthorized, "it carries the token"},
		{"/?token=" + pageToken, "", http.StatusOK, "· csisim</title>"},
		{"/news?epoch=0&chunks=0", "", http.StatusUnauthorized, "it carries the token"},
	} {
		for scheme, protocol := range map[string]string{"http": "HTTP/1.1", "https": "HTTP/2.0"} {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+host+test.path, nil)
			require.NoError(t, err)
			if test.token != "" {
				request.Header.Set("Authorization", "Bearer "+test.token)
			}
			answer, err := (&http.Client{Transport: transport, Jar: jar}).Do(request)
			require.NoError(t, err)
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			require.NoError(t, answer.Body.Close())
			assert.Equal(t, test.code, answer.StatusCode, request.URL)
			assert.Contains(t, string(text), test.says, request.URL)
			assert.Equal(t, protocol, answer.Proto)
			assert.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), "no other site's script reads it")
		}
	}
}
