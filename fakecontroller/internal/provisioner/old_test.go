package provisioner_test

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// L-PROV-1..5, L-SKEW-3: the sidecar of Kubernetes 1.13 creates a volume without topology if the
// CSINodeInfo is missing. It fails if the class requires a topology and the claim has a node.
func TestTopologyInTheTimeOfCSINodeInfos(t *testing.T) {
	info := func(keys ...string) *legacy.CSINodeInfo {
		return &legacy.CSINodeInfo{
			ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
			Spec:       legacy.CSINodeInfoSpec{Drivers: []legacy.DriverSpec{{Name: driverName, NodeID: "node-a", TopologyKeys: keys}}},
			Status:     legacy.CSINodeInfoStatus{Drivers: []legacy.DriverStatus{{Name: driverName, VolumePluginMechanism: legacy.InTree}}},
		}
	}
	other := info(zoneKey)
	other.Spec.Drivers[0].Name, other.Status.Drivers[0].Name = "other.example.com", "other.example.com"
	allowed := func(zone string) func(*storagev1.StorageClass) {
		return func(c *storagev1.StorageClass) {
			c.AllowedTopologies = []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{{Key: zoneKey, Values: []string{zone}}}}}
		}
	}
	for name, tt := range map[string]struct {
		driver  mock.Options
		info    *legacy.CSINodeInfo
		node    bool // a node was selected
		class   func(*storagev1.StorageClass)
		refused bool
		zone    string // of the request
	}{
		"a driver without topology":                  {driver: mock.Options{}, info: info(zoneKey)},
		"the object of any node, though unavailable": {driver: mock.Options{Topology: true}, info: info(zoneKey), zone: "node-a"},
		"no object at all":                           {driver: mock.Options{Topology: true}},
		"no keys":                                    {driver: mock.Options{Topology: true}, info: info()},
		"the object of the node":                     {driver: mock.Options{Topology: true}, info: info(zoneKey), node: true, zone: "node-a"},
		"no object of the node":                      {driver: mock.Options{Topology: true}, node: true},
		"no entry of the driver":                     {driver: mock.Options{Topology: true}, info: other, node: true},
		"allowed, and no object":                     {driver: mock.Options{Topology: true}, class: allowed("node-a"), zone: "node-a"},
		"allowed, and the object of the node":        {driver: mock.Options{Topology: true}, info: info(zoneKey), node: true, class: allowed("node-a"), zone: "node-a"},
		"allowed, and no object of the node":         {driver: mock.Options{Topology: true}, node: true, class: allowed("node-a"), refused: true},
		"allowed, and the node is elsewhere":         {driver: mock.Options{Topology: true}, info: info(zoneKey), node: true, class: allowed("node-b"), refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, tt.driver, provisioner.Options{})
			w.Began = 13
			w.driver.Node(mock.NodeOptions{NodeID: "node-a"})
			testcluster.Create(w, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: map[string]string{zoneKey: "node-a"}}})
			if tt.info != nil {
				testcluster.Create(w, tt.info.DeepCopy())
			}
			var change []func(*storagev1.StorageClass)
			if tt.node {
				change = append(change, waitForFirstConsumer)
			}
			if tt.class != nil {
				change = append(change, tt.class)
			}
			w.class("c", change...)
			pvc := w.claim("v", "c")
			if tt.node {
				_, err := store.Modify(w.Store, store.KeyOf(pvc), func(pvc *corev1.PersistentVolumeClaim) {
					metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, "volume.kubernetes.io/selected-node", "node-a")
				})
				require.NoError(t, err)
			}
			w.Run(10 * time.Second)
			var requests []*csi.CreateVolumeRequest
			for _, e := range w.Trace.Events() {
				if e.Kind == trace.Call && e.Method == createCall {
					requests = append(requests, e.Request.(*csi.CreateVolumeRequest))
				}
			}
			if tt.refused {
				assert.Empty(t, requests)
				return
			}
			require.NotEmpty(t, requests)
			asked := requests[0].GetAccessibilityRequirements()
			if tt.zone == "" {
				assert.Nil(t, asked)
				return
			}
			require.Len(t, asked.GetPreferred(), 1)
			assert.Equal(t, map[string]string{zoneKey: tt.zone}, asked.GetPreferred()[0].GetSegments())
		})
	}
}
