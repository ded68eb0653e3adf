package live

import (
	"bufio"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// shown is a cluster with a pod and a volume that was staged at the second attempt.
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

// startPage starts this cluster and returns the address of its page.
func startPage(t *testing.T) string {
	t.Helper()
	_, address := startShown(t)
	return address
}

func startShown(t *testing.T) (l *liveCluster, address string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shown.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shown), 0o600))
	l = startUp(t, "-f", file)
	got := clitest.RunIn(t, l.environment(), "get", "page")
	require.Zero(t, got.Code, got.Stderr)
	require.Regexp(t, `^http://127\.0\.0\.1:[0-9]+/\?token=[0-9a-f]{32}\n$`, got.Stdout)
	return l, strings.TrimSpace(got.Stdout)
}

func TestThePageRequiresTheToken(t *testing.T) {
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
	for _, refused := range []string{page, page + "?token=x", page + "news?epoch=0&chunks=0"} {
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
	assert.Equal(t, http.StatusOK, get(page+"news?epoch=0&chunks=0").StatusCode)
	assert.Equal(t, http.StatusBadRequest, get(page+"news?epoch=x").StatusCode)
	all := unpacked(t, browser, page+"news?epoch=0&chunks=0")
	assert.Contains(t, all, `"password":"***redacted***"`)
	assert.NotContains(t, all, "s3cret")
	assert.NotContains(t, all, base64.StdEncoding.EncodeToString([]byte("s3cret")))
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

// unpacked returns the data of a page, uncompressed as in the browser.
func unpacked(t *testing.T, browser *http.Client, address string) string {
	t.Helper()
	answer, err := browser.Get(address)
	require.NoError(t, err)
	defer answer.Body.Close()
	var got struct {
		Chunks []struct{ Columns, Details string }
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&got))
	require.NotEmpty(t, got.Chunks)
	var all strings.Builder
	for _, c := range got.Chunks {
		for _, packed := range []string{c.Columns, c.Details} {
			text, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(packed))))
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}

// A real browser runs the page's script. The page shows all received data as text, including data
// that arrives later.
func TestABrowserShowsTheCluster(t *testing.T) {
	browser := clitest.Browse(t, "live.mjs")
	cluster, address := startShown(t)
	browser.Args = append(browser.Args, address)
	said, err := browser.StdoutPipe()
	require.NoError(t, err)
	browser.Stderr = browser.Stdout
	require.NoError(t, browser.Start())
	var complaints []string
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if lines.Text() == "delete pods/web" {
			cluster.deletePod("web")
			continue
		}
		complaints = append(complaints, lines.Text())
	}
	assert.NoError(t, browser.Wait(), strings.Join(complaints, "\n"))
}

// deletePod deletes a pod while a browser shows the page.
func (l *liveCluster) deletePod(name string) {
	l.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(l.t, err)
	require.NoError(l.t, kubernetes.NewForConfigOrDie(config).CoreV1().Pods("default").Delete(l.t.Context(), name, metav1.DeleteOptions{}))
}
