package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// If a run ends while its proxies start, they already write records but do not answer yet. On
// kind's nodes their records are deleted with the run. On other clusters no pod is made for that.
func TestRecordsOfStartingProxiesAreRemoved(t *testing.T) {
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	c, machines := withPods(t, node("control-plane"), node("node-a"))
	c.discardLateRecords(t.Context())
	const removed = ": rm -rf -- /var/lib/csisim/records/disk-node /var/lib/csisim/records/disk-controller"
	assert.Equal(t, []string{"control-plane" + removed, "node-a" + removed}, machines.ran)

	c.options.Machines = &NodePods{cluster: c}
	c.discardLateRecords(t.Context())
	assert.Len(t, machines.ran, 2)
}
