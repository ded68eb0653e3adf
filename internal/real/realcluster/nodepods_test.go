package realcluster

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// A cluster that does not permit privileged pods ends a run that needs one, with the reason, before anything happens.
func TestANodeThatMayNotBeReachedEndsTheRun(t *testing.T) {
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
	assert.Empty(t, c.own, "nothing is to be taken away")

	require.NotNil(t, asked)
	assert.Equal(t, deploy.By, asked.Labels[deploy.ManagedBy])
	assert.Equal(t, "node-a", asked.Spec.NodeName)
	assert.True(t, asked.Spec.HostPID && *asked.Spec.Containers[0].SecurityContext.Privileged)
}

// A scenario that does nothing on nodes needs no such pod.
func TestNodesThatAreNotNeededAreNotReached(t *testing.T) {
	c := &Cluster{ctx: t.Context(), options: Options{Nodes: []string{"node-a"}}}
	assert.NoError(t, c.reachNodes())
}
