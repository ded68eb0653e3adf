package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func describing(volumes ...corev1.VolumeSource) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		for i, v := range volumes {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: string(rune('a' + i)), VolumeSource: v})
		}
	}
}

func ebs(id string) corev1.VolumeSource {
	return corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: id}}
}

func gce(name string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: name, ReadOnly: readOnly}}
}

func iscsi(iqn string, readOnly bool) corev1.VolumeSource {
	return corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "portal", IQN: iqn, ReadOnly: readOnly}}
}

func rbd(image string, readOnly bool, monitors ...string) corev1.VolumeSource {
	return corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: "pool", RBDImage: image, ReadOnly: readOnly}}
}

// C-SCHED-51
func TestTwoPodsOfANodeDoNotShareADisk(t *testing.T) {
	for _, c := range []struct {
		says         string
		there, wants corev1.VolumeSource
		fits         bool
	}{
		{"the same EBS volume", ebs("v"), ebs("v"), false},
		{"another EBS volume", ebs("v"), ebs("w"), true},
		{"the same GCE disk", gce("d", true), gce("d", false), false},
		{"the same GCE disk, both to read", gce("d", true), gce("d", true), true},
		{"the same target", iscsi("iqn", false), iscsi("iqn", true), false},
		{"the same target, both to read", iscsi("iqn", true), iscsi("iqn", true), true},
		{"the same image", rbd("i", false, "m1", "m2"), rbd("i", true, "m2"), false},
		{"the same image, both to read", rbd("i", true, "m1", "m2"), rbd("i", true, "m2"), true},
		{"an image of that name in another Ceph cluster", rbd("i", false, "m1"), rbd("i", false, "m3"), true},
		{"disks of two kinds", ebs("v"), gce("v", false), true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n"), aPod("first", describing(c.there)))
			w.Run(time.Second)
			w.add(aPod("p", describing(c.wants)))
			w.Run(time.Second)
			if c.fits {
				assert.Equal(t, "n", w.nodeOf("p"))
				return
			}
			assert.Equal(t, "0/1 nodes are available: 1 node(s) had no available disk. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.", w.why("p"))
			remove[*corev1.Pod](w, "default", "first")
			w.Run(time.Second)
			assert.Equal(t, "n", w.nodeOf("p"))
		})
	}
}

// C-SCHED-20, C-SCHED-21, C-SCHED-25: volumes of migrated plugins count for the driver that
// replaces the plugin. This holds even if the node does not report the migration. Volumes of
// vSphere and Azure file are not counted.
func TestInTreeVolumesAreCountedAsThoseOfTheirDriver(t *testing.T) {
	inTree := func(source corev1.PersistentVolumeSource) store.Object {
		return aVolume("v", func(v *corev1.PersistentVolume) { v.Spec.PersistentVolumeSource = source })
	}
	for _, c := range []struct {
		says    string
		driver  string
		objects []store.Object
		pod     *corev1.Pod
		counted bool
	}{
		{"a disk in the pod", "ebs.csi.aws.com", nil, aPod("p", describing(ebs("vol-2"))), true},
		{"a volume that is there already, as a disk in a pod", "ebs.csi.aws.com", []store.Object{aClaim("c", "later", boundTo("v")), inTree(corev1.PersistentVolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}})}, aPod("p", using("c")), false},
		{"a volume", "ebs.csi.aws.com", []store.Object{aClaim("c", "later", boundTo("v")), inTree(corev1.PersistentVolumeSource{
			AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-2"}})}, aPod("p", using("c")), true},
		{"a volume to be made", "ebs.csi.aws.com", []store.Object{laterClass("kubernetes.io/aws-ebs"), aClaim("c", "later")}, aPod("p", using("c")), true},
		{"a vSphere volume", "csi.vsphere.vmware.com", []store.Object{aClaim("c", "later", boundTo("v")), inTree(corev1.PersistentVolumeSource{
			VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[d] v"}})}, aPod("p", using("c")), false},
		{"a vSphere volume to be made", "csi.vsphere.vmware.com", []store.Object{laterClass("kubernetes.io/vsphere-volume"), aClaim("c", "later")}, aPod("p", using("c")), false},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			limit := map[string]int32{"ebs.csi.aws.com": 1, "csi.vsphere.vmware.com": 0}[c.driver]
			w.add(aNode("n"), &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
				{Name: c.driver, NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: &limit}}}}}, aPod("first", describing(ebs("vol-1"))))
			w.add(c.objects...)
			w.Run(time.Second)
			w.add(c.pod)
			w.Run(time.Second)
			if c.counted {
				assert.Contains(t, w.why("p"), "node(s) exceed max volume count")
			} else {
				assert.Empty(t, w.why("p"))
			}
		})
	}
}
