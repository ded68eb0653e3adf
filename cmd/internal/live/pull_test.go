package live

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// An unmapped image is pulled from its registry when a container first needs it.
func TestImagesArePulled(t *testing.T) {
	if !namespaces.Entered() {
		t.Skip("containers take a mount namespace")
	}
	t.Parallel() // the test mostly waits
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	p := clitest.NewPlace(t, "")
	archive(t, filepath.Join(p.Dir, "tools.tar"))
	tools, err := tarball.ImageFromPath(filepath.Join(p.Dir, "tools.tar"), nil)
	require.NoError(t, err)
	ref, err := name.ParseReference(host + "/tools:1")
	require.NoError(t, err)
	require.NoError(t, remote.Write(ref, tools))

	l := startUp(t, "--pull", "--work-dir", p.Work)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
	unfetched := func(pod *corev1.Pod) bool {
		return len(pod.Status.ContainerStatuses) == 1 && strings.HasPrefix(waiting(pod), "ErrImage")
	}
	pod := func(name, image, policy string) string {
		return "metadata: {name: " + name + "}\nspec: {containers: [{name: c, image: '" + host + "/" + image + "', imagePullPolicy: " + policy + ", args: [echo ready; exec sleep 1000]}]}\n"
	}

	never := c.make(pod("never", "tools:1", "Never"), unfetched)
	assert.Equal(t, `ErrImageNeverPull: container image "`+host+`/tools:1" is not present with pull policy of Never`, waiting(never))
	missing := c.make(pod("missing", "tools:2", "IfNotPresent"), unfetched)
	assert.Contains(t, waiting(missing), `ErrImagePull: failed to pull image "`+host+`/tools:2": failed to pull and unpack image: `)
	assert.Contains(t, waiting(missing), "MANIFEST_UNKNOWN")
	for _, name := range []string{"first", "second"} {
		c.make(pod(name, "tools:1", "Always"), inPhase(corev1.PodRunning))
	}
	require.Eventually(t, func() bool { return c.log("second", corev1.PodLogOptions{}) == "ready\n" }, time.Minute, 20*time.Millisecond)
	events, err := c.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=Pulled"})
	require.NoError(t, err)
	assert.Len(t, events.Items, 2)
	for _, e := range events.Items {
		assert.Contains(t, e.Message, `Successfully pulled image "`+host+`/tools:1" in `)
	}
	c.down()

	refused := clitest.RunIn(t, c.environment(), "up", "--pull", "--unmapped", "refuse")
	assert.Equal(t, clitest.ExitInput, refused.Code)
	assert.Contains(t, refused.Stderr, "--pull and --unmapped: an image that the file does not map is either fetched or not: leave one out")
}
