package attachdetach

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

const (
	cinder       = "kubernetes.io/cinder"
	cinderDriver = "cinder.csi.openstack.org"
)

// inTree creates a volume of the plugin kubernetes.io/cinder and a pod on node-a that uses it.
func (c *cluster) inTree() {
	c.volumeOf("v", corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "disk-1"}})
	c.pod("web", "node-a", "v")
}

// migrated reports whether the volume has a VolumeAttachment.
func (c *cluster) migrated() bool {
	name := volume.AttachmentName("disk-1", cinderDriver, "node-a")
	_, ok := store.Get[*storagev1.VolumeAttachment](c.Store, store.Key{Name: name})
	return ok
}

func csiNode(plugins string, drivers ...string) *storagev1.CSINode {
	n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Annotations: map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": plugins}}}
	for _, driver := range drivers {
		n.Spec.Drivers = append(n.Spec.Drivers, storagev1.CSINodeDriver{Name: driver, NodeID: "node-a"})
	}
	return n
}

// C-MIG-3, L-ADC-6: a volume on a node that does not report the plugin is not desired, and there is
// no event.
//
// conformance: adc-migrated-volume-no-csinode
func TestWhetherAMigratedVolumeIsWantedOnANode(t *testing.T) {
	for name, tt := range map[string]struct {
		stage    migration.Stage
		csiNode  *storagev1.CSINode
		attached bool
		unknown  bool // the populator adds the volume
	}{
		"complete, no CSINode":               {migration.Complete, nil, true, false},
		"enabled, no CSINode":                {migration.Enabled, nil, false, true},
		"enabled, the node does not migrate": {migration.Enabled, csiNode(""), false, false},
		"enabled, the node migrates others":  {migration.Enabled, csiNode("kubernetes.io/aws-ebs"), false, false},
		"enabled, the node migrates it":      {migration.Enabled, csiNode("kubernetes.io/aws-ebs," + cinder), true, false},
		"disabled":                           {migration.Disabled, csiNode(cinder), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.World.Migration = migration.Plugins{cinder: tt.stage}
			c.node("node-a")
			if tt.csiNode != nil {
				testcluster.Create(c, tt.csiNode)
			}
			c.inTree()
			a := Start(c.World, Options{})
			c.At(time.Minute)
			assert.Equal(t, tt.attached, c.migrated(), "drivers in the CSINode do not matter")
			assert.Equal(t, tt.unknown, len(a.backlog.unresolved) > 0)
			assert.Empty(t, c.warnings())
		})
	}
}

// C-MIG-3: the listing every three minutes notices a late CSINode.
func TestAVolumeIsAttachedOnceTheCSINodeExists(t *testing.T) {
	c := newCluster(t)
	c.World.Migration = migration.Plugins{cinder: migration.Enabled}
	c.node("node-a")
	c.inTree()
	Start(c.World, Options{})
	c.At(10 * time.Second)
	testcluster.Create(c, csiNode(cinder))
	at := c.until("the attachment", c.migrated)
	assert.GreaterOrEqual(t, at, podListPeriod)
	assert.Less(t, at, podListPeriod+time.Second)
}

// L-ADC-2: the test has the rows of the rule's table. L-SKEW-1: if the object never appears, the
// attach never succeeds.
func TestCSINodeInfosDecideTheAttacherOfInTreeVolumes(t *testing.T) {
	info := func(available bool, mechanism legacy.Mechanism) *legacy.CSINodeInfo {
		n := &legacy.CSINodeInfo{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
		if mechanism != "" {
			n.Spec.Drivers = []legacy.DriverSpec{{Name: cinderDriver, NodeID: "node-a"}}
			n.Status.Drivers = []legacy.DriverStatus{{Name: cinderDriver, Available: available, VolumePluginMechanism: mechanism}}
		}
		return n
	}
	const failed = `AttachVolume.Attach failed for volume "v" : `
	for name, tt := range map[string]struct {
		stage    migration.Stage
		info     *legacy.CSINodeInfo
		byDriver bool
		byPlugin bool
		event    string
	}{
		"gate off":                        {migration.Disabled, nil, false, false, ""},
		"no object":                       {migration.Enabled, nil, false, false, failed + `csinodeinfos.csi.storage.k8s.io "node-a" not found`},
		"no entry":                        {migration.Enabled, info(false, ""), false, false, failed + "CSINodeInfo node-a does not contain driver " + cinderDriver},
		"in-tree":                         {migration.Enabled, info(true, legacy.InTree), false, true, ""},
		"in-tree, not available":          {migration.Enabled, info(false, legacy.InTree), false, true, ""},
		"csi":                             {migration.Enabled, info(true, legacy.CSI), true, false, ""},
		"csi, not available":              {migration.Enabled, info(false, legacy.CSI), false, false, failed + "in-tree plugin kubernetes.io/cinder is migrated on node node-a but driver cinder.csi.openstack.org is not installed"},
		"csi-plugin, as a comment has it": {migration.Enabled, info(true, "csi-plugin"), false, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.World.Version, c.World.Migration = 13, migration.Plugins{cinder: tt.stage}
			c.node("node-a")
			if tt.info != nil {
				testcluster.Create(c, tt.info)
			}
			c.inTree()
			a := Start(c.World, Options{})
			c.At(200 * time.Millisecond)
			at := pair{volume.UniqueName(cinderDriver, "disk-1"), "node-a"}
			assert.Equal(t, tt.byDriver, c.migrated())
			assert.Equal(t, tt.byPlugin, a.actual.confirmed(at) && a.actual.get(at).inTree)
			if tt.event == "" {
				assert.Empty(t, c.warnings())
			} else {
				assert.Contains(t, strings.Join(c.story(), "\n"), tt.event)
				assert.Nil(t, a.actual.get(at), "L-ADC-3: nothing is uncertain")
			}
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.API && e.Resource == "csinodeinfos" {
					assert.Equal(t, store.Added, store.EventType(e.Change), "L-ADC-9: the controller does not write it")
				}
			}
		})
	}
}

// L-ADC-1, L-ADC-9, L-SKEW-2: for CSI volumes, and for volumes of plugins that are not migrated,
// the controller does not read the object. While one volume waits for the object, other volumes are
// attached.
func TestVolumesThatNeedNoCSINodeInfoDoNotWaitForOne(t *testing.T) {
	c := newCluster(t)
	c.World.Version, c.World.Migration = 13, migration.Plugins{cinder: migration.Enabled, "kubernetes.io/aws-ebs": migration.Disabled}
	c.node("node-a")
	c.inTree()
	c.volume("native")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "native")
	c.At(2 * time.Second)
	assert.Equal(t, []string{unique("native")}, c.volumesAttached("node-a"))
	assert.False(t, c.migrated())
	assert.NotEmpty(t, c.warnings(), "the other one waits")

	// The controller has no migration, but the object has.
	c = newCluster(t)
	c.World.Version, c.World.Migration = 13, migration.Plugins{cinder: migration.Disabled}
	c.node("node-a")
	legacyObject(c)
	c.inTree()
	a := Start(c.World, Options{})
	c.At(time.Minute)
	assert.False(t, c.migrated())
	assert.Empty(t, c.warnings())
	assert.Empty(t, a.backlog.unresolved)
}

// L-ADC-8: for a volume with only a known name, the node's report on the plugin does not matter.
// The driver detaches it.
func TestAVolumeWithoutItsPodIsDetachedByTheDriver(t *testing.T) {
	c := newCluster(t)
	c.World.Version, c.World.Migration = 13, migration.Plugins{cinder: migration.Enabled}
	c.node("node-a")
	legacyObject(c)
	c.inTree()
	c.attacher()
	a := Start(c.World, Options{})
	c.At(2 * time.Second)
	require.True(t, c.migrated())
	a.Crash()
	c.deletePod("web")
	c.uses("node-a")
	_, err := store.Delete[*legacy.CSINodeInfo](c.Store, store.Key{Name: "node-a"})
	require.NoError(t, err)
	Start(c.World, Options{})
	c.At(4 * time.Second)
	assert.False(t, c.migrated())
	assert.Empty(t, c.volumesAttached("node-a"))
}

// L-ADC-4, L-ADC-5: with the backoff of a failed operation, or every 100 ms.
func TestTheRateOfLookUpsOfTheObject(t *testing.T) {
	for name, tt := range map[string]struct {
		v         version.Version
		noBackoff bool
		appears   func(*cluster)
		tries     int
		found     time.Duration
	}{
		"v1.13":                    {13, false, legacyObject, 6, 15600 * time.Millisecond},
		"v1.13 without a backoff":  {13, true, legacyObject, 100, 10100 * time.Millisecond},
		"v1.14 looks at a CSINode": {14, false, func(c *cluster) { testcluster.Create(c, csiNode(cinder, cinderDriver)) }, 100, 10100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.World.Version, c.World.Migration = tt.v, migration.Plugins{cinder: migration.Enabled}
			c.World.Legacy.NoBackoff = tt.noBackoff
			c.node("node-a")
			c.inTree()
			Start(c.World, Options{})
			c.At(10*time.Second + 50*time.Millisecond)
			assert.InDelta(t, tt.tries, len(c.warnings()), 2)
			tt.appears(c)
			assert.InDelta(t, tt.found.Seconds(), c.until("the attachment", c.migrated).Seconds(), 1)
		})
	}
}

func legacyObject(c *cluster) {
	testcluster.Create(c, &legacy.CSINodeInfo{
		ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
		Spec:       legacy.CSINodeInfoSpec{Drivers: []legacy.DriverSpec{{Name: cinderDriver, NodeID: "node-a"}}},
		Status:     legacy.CSINodeInfoStatus{Drivers: []legacy.DriverStatus{{Name: cinderDriver, Available: true, VolumePluginMechanism: legacy.CSI}}},
	})
}

// L-ADC-7
func TestAVolumeWithAttachAndDetachByDifferentPluginsIsReported(t *testing.T) {
	for name, tt := range map[string]struct {
		first, then legacy.Mechanism
		says        string
	}{
		"in-tree, then the driver": {legacy.InTree, legacy.CSI, "the in-tree plugin kubernetes.io/cinder attached volume"},
		"the driver, then in-tree": {legacy.CSI, legacy.InTree, "driver cinder.csi.openstack.org attached volume"},
		"the driver all the time":  {legacy.CSI, legacy.CSI, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.World.Version, c.World.Migration = 13, migration.Plugins{cinder: migration.Enabled}
			c.node("node-a")
			legacyObject(c)
			become := func(m legacy.Mechanism) {
				_, err := store.Modify(c.Store, store.Key{Name: "node-a"}, func(n *legacy.CSINodeInfo) { n.Status.Drivers[0].VolumePluginMechanism = m })
				require.NoError(t, err)
			}
			become(tt.first)
			c.inTree()
			c.attacher()
			Start(c.World, Options{})
			c.At(2 * time.Second)
			become(tt.then)
			c.deletePod("web")
			c.uses("node-a")
			c.At(20 * time.Second)
			var got []string
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.Violation {
					got = append(got, e.Message)
				}
			}
			if tt.says == "" {
				assert.Empty(t, got)
				assert.False(t, c.migrated())
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], tt.says)
		})
	}
}
