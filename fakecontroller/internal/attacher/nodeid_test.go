package attacher

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// L-ATT-1, L-ATT-2: the sidecar reads the object first, whether the driver is available or not, and
// then the Node.
func TestWhereAnOldSidecarFindsTheNodeID(t *testing.T) {
	info := func(available bool, driver string) *legacy.CSINodeInfo {
		return &legacy.CSINodeInfo{
			ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
			Spec:       legacy.CSINodeInfoSpec{Drivers: []legacy.DriverSpec{{Name: driver, NodeID: "node-a"}}},
			Status:     legacy.CSINodeInfoStatus{Drivers: []legacy.DriverStatus{{Name: driver, Available: available, VolumePluginMechanism: legacy.InTree}}},
		}
	}
	for name, tt := range map[string]struct {
		info       *legacy.CSINodeInfo
		annotation string
		fails      string
	}{
		"the object":                      {info(true, driverName), "", ""},
		"the object, not available":       {info(false, driverName), "", ""},
		"no object, the Node":             {nil, `{"` + driverName + `":"node-a"}`, ""},
		"another driver, the Node":        {info(true, "other.example.com"), `{"` + driverName + `":"node-a"}`, ""},
		"no object, nothing on the Node":  {nil, `{}`, "node node-a has no id with driver " + driverName},
		"no object, no annotation either": {nil, "", "node node-a has no usable annotation csi.volume.kubernetes.io/nodeid"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newSite(t, nil, mock.Options{})
			c.World.Began = 13
			_, err := store.Delete[*storagev1.CSINode](c.Store, store.Key{Name: "node-a"})
			require.NoError(t, err)
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{}}}
			if tt.annotation != "" {
				node.Annotations["csi.volume.kubernetes.io/nodeid"] = tt.annotation
			}
			testcluster.Create(c, node)
			if tt.info != nil {
				testcluster.Create(c, tt.info)
			}
			c.start()
			c.attach()
			c.At(time.Second)
			if tt.fails == "" {
				assert.True(t, c.attachment().Status.Attached)
				return
			}
			require.NotNil(t, c.attachment().Status.AttachError)
			assert.Contains(t, c.attachment().Status.AttachError.Message, tt.fails)
		})
	}
}
