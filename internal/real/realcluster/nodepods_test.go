package realcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/sim"
)

// If a cluster does not permit privileged pods, a run that needs one ends before the first step,
// with the reason.
func TestANodeThatCannotBeReachedEndsTheRun(t *testing.T) {
	clients := fake.NewClientset()
	var asked *corev1.Pod
	clients.PrependReactor("create", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked = action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		return true, nil, apierrors.NewForbidden(corev1.Resource("pods"), asked.Name, http.ErrAbortHandler)
	})
	c := &Cluster{ctx: t.Context(), clients: clients, options: Options{Nodes: []string{"node-a"}, Reach: true}}
	c.options.Machines = &NodePods{cluster: c, image: "csisim.dev/disk:csisim", ready: map[string]bool{}}
	err := c.reachNodes()
	assert.ErrorContains(t, err, "does not permit the privileged pod csisim-on-node-a in kube-system")
	var environment *sim.EnvironmentError
	assert.ErrorAs(t, err, &environment, "exit code 3")
	assert.Empty(t, c.own, "nothing has to be deleted")

	require.NotNil(t, asked)
	assert.Equal(t, deploy.By, asked.Labels[deploy.ManagedBy])
	assert.Equal(t, "node-a", asked.Spec.NodeName)
	assert.True(t, asked.Spec.HostPID && *asked.Spec.Containers[0].SecurityContext.Privileged)
}

// A scenario without steps on nodes needs no privileged pod.
func TestNodesThatAreNotNeededAreNotReached(t *testing.T) {
	c := &Cluster{ctx: t.Context(), options: Options{Nodes: []string{"node-a"}}}
	assert.NoError(t, c.reachNodes())
}

// The output of a command on a node is read as it arrives, through the API and the node's pod.
func TestACommandOfANodeIsFollowedThroughItsPod(t *testing.T) {
	var asked proxy.NodeCommand
	gone := make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, fmt.Sprintf("/api/v1/namespaces/kube-system/pods/csisim-on-node-a:%d/proxy/follow", deploy.NodePort), r.URL.Path)
		assert.Equal(t, "secret", r.Header.Get(proxy.TokenHeader))
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&asked))
		fmt.Fprint(w, "first\nsecond\n")
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-r.Context().Done()
		close(gone)
	}))
	defer api.Close()
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: api.URL})
	require.NoError(t, err)
	c := &Cluster{ctx: t.Context(), clients: clients, options: Options{Deploy: deploy.Options{Proxy: "secret"}}}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	lines, ended := make(chan string, 10), make(chan error, 1)
	go func() {
		ended <- (&NodePods{cluster: c}).Follow(ctx, "node-a", func(line string) { lines <- line }, "journalctl", "--follow")
	}()
	assert.Equal(t, "first", <-lines)
	assert.Equal(t, "second", <-lines)
	assert.Equal(t, []string{"journalctl", "--follow"}, asked.Command)
	end()
	assert.Error(t, <-ended)
	<-gone
}

// No pod is created on a node only to read the log of its runtime.
func TestTheRuntimeLogIsReadIfStepsReachTheNode(t *testing.T) {
	c, _ := withPods(t)
	c.options.Nodes = []string{"node-a"}
	c.options.Machines = &NodePods{cluster: c}
	assert.Error(t, c.canLook("node-a"))
	c.followRuntimes() // no node is contacted
	c.options.Reach = true
	assert.NoError(t, c.canLook("node-a"))
}
