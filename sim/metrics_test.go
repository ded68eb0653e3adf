package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	statsv1alpha1 "k8s.io/kubelet/pkg/apis/stats/v1alpha1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
)

// measuredCluster returns a cluster with a pod with a volume on node-a, after the driver has
// reported the volume's statistics.
func measuredCluster(t *testing.T) *sim.Simulation {
	t.Helper()
	c, err := sim.Start(sim.Options{Drivers: []sim.Driver{{Name: benchDriver, Mock: &mock.Options{Stats: true}}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Boot())
	client := c.Client()
	_, err = client.StorageV1().StorageClasses().Create(t.Context(), &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: benchDriver,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim("v"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(t.Context(), pod("v", "node-a"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Advance(5*time.Minute))
	return c
}

// ask makes a request like the storage suite. [test/e2e/framework/metrics getMetricsFromNode]
func ask(t *testing.T, c *sim.Simulation, node, page string) ([]byte, error) {
	t.Helper()
	answer := c.Client().CoreV1().RESTClient().Get().Resource("nodes").SubResource("proxy").Name(node).Suffix(page).Do(context.Background())
	text, err := answer.Raw()
	if err != nil {
		err = answer.Error() // with the server's message
	}
	return text, err
}

// K-MET-1, K-MET-3, K-MET-5, K-STAT-5: the node's proxy serves the metrics of its kubelet, in the
// text format of Prometheus.
func TestAKubeletsMetricsAreReadThroughItsNode(t *testing.T) {
	c := measuredCluster(t)
	node, err := c.Client().CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 10250, node.Status.DaemonEndpoints.KubeletEndpoint.Port)
	text, err := ask(t, c, "node-a:10250", "metrics")
	require.NoError(t, err)
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)

	used := families["kubelet_volume_stats_capacity_bytes"]
	require.NotNil(t, used)
	assert.Equal(t, dto.MetricType_GAUGE, used.GetType())
	assert.Equal(t, map[string]string{"namespace": "default", "persistentvolumeclaim": "v"}, labelsOf(used.Metric[0]))
	assert.Positive(t, used.Metric[0].GetGauge().GetValue())

	calls := families["csi_operations_seconds"]
	require.NotNil(t, calls)
	assert.Equal(t, dto.MetricType_HISTOGRAM, calls.GetType())
	published := seriesOf(calls, "method_name", "/csi.v1.Node/NodePublishVolume")
	require.NotNil(t, published)
	assert.Equal(t, map[string]string{
		"driver_name": benchDriver, "method_name": "/csi.v1.Node/NodePublishVolume", "grpc_status_code": "OK", "migrated": "false",
	}, labelsOf(published))
	assert.EqualValues(t, 1, published.GetHistogram().GetSampleCount())
	assert.Len(t, published.GetHistogram().GetBucket(), 14)

	mounts := seriesOf(families["storage_operation_duration_seconds"], "operation_name", "volume_mount")
	require.NotNil(t, mounts)
	assert.Equal(t, "kubernetes.io/csi:"+benchDriver, labelsOf(mounts)["volume_plugin"])
	assert.EqualValues(t, 1, mounts.GetHistogram().GetSampleCount())
}

func labelsOf(m *dto.Metric) map[string]string {
	all := map[string]string{}
	for _, l := range m.GetLabel() {
		all[l.GetName()] = l.GetValue()
	}
	return all
}

func seriesOf(f *dto.MetricFamily, label, value string) *dto.Metric {
	for _, m := range f.GetMetric() {
		if labelsOf(m)[label] == value {
			return m
		}
	}
	return nil
}

// K-STAT-5: the summary lists the volumes of each pod with their claims.
func TestAKubeletsSummaryHasTheVolumesOfItsPods(t *testing.T) {
	c := measuredCluster(t)
	text, err := ask(t, c, "node-a", "stats/summary")
	require.NoError(t, err)
	var summary statsv1alpha1.Summary
	require.NoError(t, json.Unmarshal(text, &summary))
	assert.Equal(t, "node-a", summary.Node.NodeName)
	require.Len(t, summary.Pods, 1)
	assert.Equal(t, "v", summary.Pods[0].PodRef.Name)
	require.Len(t, summary.Pods[0].VolumeStats, 1)
	stats := summary.Pods[0].VolumeStats[0]
	assert.Equal(t, &statsv1alpha1.PVCReference{Name: "v", Namespace: "default"}, stats.PVCRef)
	assert.Positive(t, *stats.CapacityBytes)
	assert.Positive(t, *stats.Inodes)
	assert.False(t, stats.Time.IsZero())

	text, err = ask(t, c, "node-a", "pods")
	require.NoError(t, err)
	var pods corev1.PodList
	require.NoError(t, json.Unmarshal(text, &pods))
	require.Len(t, pods.Items, 1)
	assert.Equal(t, "v", pods.Items[0].Name)
}

// The answer for a missing node or page equals the answer of the real server.
// [apimachinery/pkg/util/proxy Transport.RoundTrip]
func TestAnUnreachableKubeletIsUnavailable(t *testing.T) {
	c := measuredCluster(t)
	for _, try := range []struct {
		node, page, says string
		is               func(error) bool
	}{
		{"node-a", "nothing", "the server could not find the requested resource", apierrors.IsNotFound},
		{"node-z", "metrics", `nodes "node-z" not found`, apierrors.IsNotFound},
		{"node-a:10255", "metrics", "error trying to reach service: dial tcp 127.0.0.1:10255: connect: connection refused", apierrors.IsServiceUnavailable},
		{"ftp:a:b:c", "metrics", `invalid node request "ftp:a:b:c"`, apierrors.IsBadRequest},
	} {
		_, err := ask(t, c, try.node, try.page)
		assert.True(t, try.is(err), "%s/%s: %v", try.node, try.page, err)
		assert.ErrorContains(t, err, try.says)
	}
	require.NoError(t, c.Kill(sim.Kubelet("node-b")))
	_, err := ask(t, c, "node-b", "healthz")
	assert.True(t, apierrors.IsServiceUnavailable(err), "%v", err)
	assert.ErrorContains(t, err, "dial tcp 127.0.0.2:10250: connect: connection refused")
}
