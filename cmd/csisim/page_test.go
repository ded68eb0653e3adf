package main

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown is a cluster with a pod whose volume was staged at the second attempt.
const shown = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers: [{name: mock.csi.csisim.dev, mock: {}}]
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: mock}, provisioner: mock.csi.csisim.dev}
- {apiVersion: v1, kind: Secret, metadata: {name: backend, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{s3cret}"}}, stringData: {password: s3cret}}
steps:
- fault: {call: NodeStageVolume, code: Internal, message: device <b>not</b> found, times: 1}
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {storageClassName: mock, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: web, image: registry.local/web:1, volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
`

// startPage starts such a cluster and returns the address of its page.
func startPage(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shown.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shown), 0o600))
	l := startUp(t, "-f", file)
	got := csisimIn(t, l.environment(), "get", "page")
	require.Zero(t, got.code, got.stderr)
	require.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/\?token=[0-9a-f]{32}\n$`, got.stdout)
	return strings.TrimSpace(got.stdout)
}

func TestThePageIsForWhoHasTheToken(t *testing.T) {
	address := startPage(t)
	page, _, _ := strings.Cut(address, "?")
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar}
	get := func(address string) *http.Response {
		answer, err := browser.Get(address)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer
	}
	for _, refused := range []string{page, page + "?token=x", page + "state?since=0"} {
		assert.Equal(t, http.StatusUnauthorized, get(refused).StatusCode, refused)
	}
	refusing := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	first, err := refusing.Get(address)
	require.NoError(t, err)
	require.NoError(t, first.Body.Close())
	assert.NotEmpty(t, first.Header.Get("Set-Cookie"))
	assert.Equal(t, "no-store", first.Header.Get("Cache-Control"), "it sets the cookie")
	assert.Equal(t, "no-referrer", first.Header.Get("Referrer-Policy"))
	opened := get(address)
	assert.Equal(t, http.StatusOK, opened.StatusCode)
	assert.Equal(t, page, opened.Request.URL.String(), "the token does not stay in the address")
	assert.Contains(t, opened.Header.Get("Content-Security-Policy"), "default-src 'none'")
	assert.Equal(t, http.StatusOK, get(page+"state?since=0").StatusCode)
	assert.Equal(t, http.StatusBadRequest, get(page+"state?since=x").StatusCode)
	secret, err := browser.Get(page + "state?since=0&object=Secret%20default/backend")
	require.NoError(t, err)
	defer secret.Body.Close()
	text, err := io.ReadAll(secret.Body)
	require.NoError(t, err)
	assert.Contains(t, string(text), `\"password\": \"***\"`)
	assert.NotContains(t, string(text), "s3cret")
	assert.NotContains(t, string(text), base64.StdEncoding.EncodeToString([]byte("s3cret")))
	assert.Equal(t, http.StatusUnauthorized, get(page+"api/v1/pods").StatusCode, "the page's token does not open the API")
	assert.Equal(t, http.StatusUnauthorized, get(strings.Replace(page, "127.0.0.1", "localhost", 1)).StatusCode, "cookies are for one name")

	for _, asked := range []string{address, page + "api/v1/pods"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, asked, nil)
		require.NoError(t, err)
		request.Host = "attacker.example.com"
		answer, err := browser.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, http.StatusMisdirectedRequest, answer.StatusCode, "whatever name leads there: %s", asked)
	}
}

// A real browser runs the page's script, and shows what it is sent as text.
func TestABrowserShowsTheCluster(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	address := startPage(t)
	see := func(address string) string {
		// The browser's own sandbox needs namespaces that a test's machine may lack.
		browser := exec.CommandContext(t.Context(), chromium, "--headless=new", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+t.TempDir(), "--virtual-time-budget=5000", "--dump-dom", address)
		seen, err := browser.Output()
		require.NoError(t, err)
		return string(seen)
	}
	all := see(address)
	for _, text := range []string{
		`id="link" role="status" class="good">live<`, ">node-b<", ">mock.csi.csisim.dev<", "Mounts · 2", ">attached<", "CreateVolume", "FailedMount",
		"device &lt;b&gt;not&lt;/b&gt; found",
	} {
		assert.Contains(t, all, text)
	}
	chosen := see(address + "#Pod%20default%2Fweb")
	assert.Contains(t, chosen, `<span id="title">Pod default/web</span>`)
	assert.Contains(t, chosen, "NodePublishVolume", "calls about the pod's volume are its history")
	assert.Contains(t, chosen, `"nodeName": "node-`, "the object itself")
	assert.NotContains(t, chosen, "NodeGetInfo", "it is about the node alone")
}
