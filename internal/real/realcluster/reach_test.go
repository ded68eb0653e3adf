package realcluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/csisim/csisim/sim"
)

// served returns a cluster with an API that answers every request with one object.
func served(t *testing.T, answer any) (*Cluster, *httptest.Server) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(answer))
	}))
	t.Cleanup(server.Close)
	clients, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	c := &Cluster{clients: clients}
	c.ctx, c.end = context.WithCancelCause(t.Context())
	t.Cleanup(func() { c.end(nil) })
	return c, server
}

func TestARunEndsWhenTheAPIStaysUnreachable(t *testing.T) {
	c, server := served(t, map[string]string{"gitVersion": "v1"})
	go c.attend(time.Millisecond, 50*time.Millisecond)
	select {
	case <-c.ctx.Done():
		t.Fatal("the API answers")
	case <-time.After(100 * time.Millisecond):
	}
	server.Close()
	<-c.ctx.Done()
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, context.Cause(c.ctx), &environment)
	assert.ErrorContains(t, environment, "reach the cluster's API: it has not answered for 50ms")
}

// A pod that waits for an image that cannot be pulled is an error at once.
func TestAnImageThatCannotBePulledIsAnErrorAtOnce(t *testing.T) {
	waiting := func(reason string) corev1.PodList {
		return corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{{
			Spec: corev1.PodSpec{NodeName: "node-a"},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				Name: "csi-attacher", Image: "example.com/attacher:v1",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "no such host"}},
			}}},
		}}}
	}
	c, _ := served(t, waiting("ImagePullBackOff"))
	assert.EqualError(t, c.cannotPull(), "node node-a does not get image example.com/attacher:v1: ImagePullBackOff no such host. Have it on this machine's engine, or name another with --sidecar-image")
	c, _ = served(t, waiting("ContainerCreating"))
	assert.NoError(t, c.cannotPull())
}
