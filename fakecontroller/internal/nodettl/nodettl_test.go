package nodettl

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

func addNode(c *testcluster.API, name string) {
	testcluster.Create(c, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func remove(c *testcluster.API, name string) {
	testcluster.Delete(c, testcluster.Get[*corev1.Node](c, "", name))
}

func ttl(c *testcluster.API, name string) string {
	return testcluster.Get[*corev1.Node](c, "", name).Annotations["node.alpha.kubernetes.io/ttl"]
}

// Given a node without the annotation, when the controller observes it, then it gets the
// annotation, and gets it again after a user has changed it. C-TTL-2 [pkg/controller/ttl
// updateNodeIfNeeded]
func TestEachNodeIsAnnotated(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	Start(c.World)
	addNode(c, "new")
	c.Run(time.Second)
	assert.Equal(t, "0", ttl(c, "new"))
	testcluster.Change(c, testcluster.Get[*corev1.Node](c, "", "new"), func(n *corev1.Node) {
		n.Annotations["node.alpha.kubernetes.io/ttl"] = "soon"
	})
	c.Run(time.Second)
	assert.Equal(t, "0", ttl(c, "new"))
}

// Given 100 nodes, when one more is added, then the time is 15 s. An existing node gets it at its
// next change. The time returns to 0 s only below 90 nodes. C-TTL-2 [pkg/controller/ttl
// ttlBoundaries]
func TestLargerClustersHaveALongerTime(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	Start(c.World)
	names := make([]string, 101)
	for i := range names {
		names[i] = fmt.Sprintf("n%03d", i)
		addNode(c, names[i])
		c.Run(10 * time.Millisecond)
	}
	assert.Equal(t, "15", ttl(c, "n100"))
	assert.Equal(t, "0", ttl(c, "n000"))
	touch := func() {
		testcluster.Change(c, testcluster.Get[*corev1.Node](c, "", "n000"), func(n *corev1.Node) {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, "touched", c.Kernel.Now().String())
		})
		c.Run(time.Second)
	}
	touch()
	assert.Equal(t, "15", ttl(c, "n000"))
	for _, name := range names[90:] {
		remove(c, name)
	}
	touch()
	assert.Equal(t, "15", ttl(c, "n000"), "90 nodes")
	remove(c, names[89])
	touch()
	assert.Equal(t, "0", ttl(c, "n000"), "89 nodes")
}
