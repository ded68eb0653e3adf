package migration_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/migration"
)

func volume(source corev1.PersistentVolumeSource) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv"},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: source,
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: "c"},
		},
	}
}

// C-MIG-1, C-MIG-8, C-MIG-9, K-MIG-1
// conformance: adc-migrated-volume-spec
func TestVolumesOfAllMigratedPluginsAreCSIVolumes(t *testing.T) {
	for _, c := range []struct {
		plugin, driver, handle string
		attributes             map[string]string
		source                 corev1.PersistentVolumeSource
	}{
		{"kubernetes.io/aws-ebs", "ebs.csi.aws.com", "vol-1", map[string]string{"partition": "0"}, corev1.PersistentVolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1a/vol-1"}}},
		{"kubernetes.io/gce-pd", "pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/disk-1", map[string]string{"partition": ""}, corev1.PersistentVolumeSource{
			GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "disk-1"}}},
		{"kubernetes.io/cinder", "cinder.csi.openstack.org", "disk-1", map[string]string{}, corev1.PersistentVolumeSource{
			Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "disk-1"}}},
		{"kubernetes.io/azure-disk", "disk.csi.azure.com", "/subscriptions/x/disk-1", map[string]string{"kind": "Managed"}, corev1.PersistentVolumeSource{
			AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "disk-1", DataDiskURI: "/subscriptions/x/disk-1"}}},
		{"kubernetes.io/azure-file", "file.csi.azure.com", "#account#share#pv#default", map[string]string{"sharename": "share"}, corev1.PersistentVolumeSource{
			AzureFile: &corev1.AzureFilePersistentVolumeSource{SecretName: "azure-storage-account-account-secret", ShareName: "share"}}},
		{"kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com", "[store] disk-1.vmdk", map[string]string{}, corev1.PersistentVolumeSource{
			VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[store] disk-1.vmdk"}}},
		{"kubernetes.io/portworx-volume", "pxd.portworx.com", "disk-1", map[string]string{}, corev1.PersistentVolumeSource{
			PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: "disk-1"}}},
	} {
		t.Run(c.plugin, func(t *testing.T) {
			pv := volume(c.source)
			plugin, ok := migration.Plugin(pv)
			assert.True(t, ok)
			assert.Equal(t, c.plugin, plugin)
			driver, ok := migration.Driver(plugin)
			assert.True(t, ok)
			assert.Equal(t, c.driver, driver)
			back, ok := migration.PluginOf(driver)
			assert.True(t, ok)
			assert.Equal(t, c.plugin, back)

			translated, err := migration.PV(pv)
			require.NoError(t, err)
			assert.Equal(t, c.driver, translated.Spec.CSI.Driver)
			assert.Equal(t, c.handle, translated.Spec.CSI.VolumeHandle)
			attributes := translated.Spec.CSI.VolumeAttributes
			if attributes == nil {
				attributes = map[string]string{}
			}
			assert.Equal(t, c.attributes, attributes)
			assert.Nil(t, pv.Spec.CSI, "the object stays as it is")
		})
	}
}

func TestOtherVolumesAreNotChanged(t *testing.T) {
	pv := volume(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "h"}})
	same, err := migration.PV(pv)
	require.NoError(t, err)
	assert.Same(t, pv, same)
	_, ok := migration.Plugin(pv)
	assert.False(t, ok)
	_, ok = migration.Driver("d")
	assert.False(t, ok)
	handle, err := migration.RepairHandle("d", "h", "n")
	require.NoError(t, err)
	assert.Equal(t, "h", handle)
	_, ok, err = migration.Inline(&corev1.Volume{Name: "e", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, "default")
	require.NoError(t, err)
	assert.False(t, ok)
}

// C-MIG-6, C-MIG-11
func TestVolumesThatAPodDescribesGetAUniqueName(t *testing.T) {
	pv, ok, err := migration.Inline(&corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{
		Cinder: &corev1.CinderVolumeSource{VolumeID: "disk-1"}}}, "default")
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "cinder.csi.openstack.org-disk-1", pv.Name)
	assert.Equal(t, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, pv.Spec.AccessModes)
	assert.Equal(t, corev1.PersistentVolumeFilesystem, *pv.Spec.VolumeMode)
}

// C-MIG-13
func TestClassesOfMigratedPlugins(t *testing.T) {
	class := &storagev1.StorageClass{Provisioner: "kubernetes.io/cinder", Parameters: map[string]string{"fstype": "xfs"}}
	translated, err := migration.Class(class)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"csi.storage.k8s.io/fstype": "xfs"}, translated.Parameters)
	assert.Equal(t, map[string]string{"fstype": "xfs"}, class.Parameters)
	own := &storagev1.StorageClass{Provisioner: "d"}
	same, err := migration.Class(own)
	require.NoError(t, err)
	assert.Same(t, own, same)
}

// C-MIG-14
func TestHandlesAreRepairedWithTheNodesID(t *testing.T) {
	handle, err := migration.RepairHandle("pd.csi.storage.gke.io", "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", "projects/p/zones/z/instances/i")
	require.NoError(t, err)
	assert.Equal(t, "projects/p/zones/z/disks/d", handle)
}

// C-MIG-10: access modes of GCE disks are translated.
func TestAccessModesOfDisksOfGCE(t *testing.T) {
	const rwo, rox, rwx = corev1.ReadWriteOnce, corev1.ReadOnlyMany, corev1.ReadWriteMany
	for _, c := range []struct {
		said, means []corev1.PersistentVolumeAccessMode
	}{
		{[]corev1.PersistentVolumeAccessMode{rwo}, []corev1.PersistentVolumeAccessMode{rwo}},
		{[]corev1.PersistentVolumeAccessMode{rox}, []corev1.PersistentVolumeAccessMode{rox}},
		{[]corev1.PersistentVolumeAccessMode{rwx}, []corev1.PersistentVolumeAccessMode{rwo}},
		{[]corev1.PersistentVolumeAccessMode{rox, rwo}, []corev1.PersistentVolumeAccessMode{rwo}},
	} {
		pv := volume(corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}})
		pv.Spec.AccessModes = c.said
		translated, err := migration.PV(pv)
		require.NoError(t, err)
		assert.Equal(t, c.means, translated.Spec.AccessModes, "%v", c.said)
		assert.Equal(t, c.said, pv.Spec.AccessModes)
	}
}

// C-MIG-12: a zone of the in-tree volume is translated to the driver's zone, and back.
func TestZonesOfMigratedVolumes(t *testing.T) {
	const own = "topology.gke.io/zone"
	affinity := func(key string, zones ...string) *corev1.VolumeNodeAffinity {
		return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: zones}}}}}}
	}
	for name, c := range map[string]struct {
		affinity *corev1.VolumeNodeAffinity
		labels   map[string]string
		want     *corev1.VolumeNodeAffinity
	}{
		"affinity":                {affinity(corev1.LabelTopologyZone, "a"), nil, affinity(own, "a")},
		"affinity with old label": {affinity(corev1.LabelFailureDomainBetaZone, "a"), nil, affinity(own, "a")},
		"labels":                  {nil, map[string]string{corev1.LabelTopologyZone: "a"}, affinity(own, "a")},
		"labels of two zones":     {nil, map[string]string{corev1.LabelTopologyZone: "us-east1-b__us-east1-c"}, affinity(own, "us-east1-b", "us-east1-c")},
		"the new label counts":    {nil, map[string]string{corev1.LabelTopologyZone: "a", corev1.LabelFailureDomainBetaZone: "b"}, affinity(own, "a")},
		"nothing":                 {nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pv := volume(corev1.PersistentVolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "d"}})
			pv.Spec.NodeAffinity, pv.Labels = c.affinity, c.labels
			translated, err := migration.PV(pv)
			require.NoError(t, err)
			assert.Equal(t, c.want, translated.Spec.NodeAffinity)
		})
	}

	pv := volume(corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "pd.csi.storage.gke.io", VolumeHandle: "projects/p/zones/us-east1-b/disks/d"}})
	pv.Spec.NodeAffinity = affinity(own, "us-east1-b")
	back, err := migration.InTree(pv)
	require.NoError(t, err)
	assert.Equal(t, "us-east1-b", back.Labels[corev1.LabelTopologyZone])
	assert.Equal(t, "us-east1", back.Labels[corev1.LabelTopologyRegion])
	assert.Equal(t, corev1.LabelTopologyZone, back.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Key)
}
