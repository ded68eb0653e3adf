package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/store"
)

// C-SCHED-1, C-SCHED-2, C-SCHED-5, C-SCHED-40, C-PV-24
func TestReasonsFromVolumes(t *testing.T) {
	immediate := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "now"}, Provisioner: driver}
	const helpless = " no new claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	for _, c := range []struct {
		says    string
		objects []store.Object
		why     string
	}{
		{"missing claim", nil, `0/1 nodes are available: persistentvolumeclaim "c" not found. not found`},
		{"unbound claim", []store.Object{immediate, aClaim("c", "now")},
			"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"},
		{"claim that names a volume but is not bound", []store.Object{laterClass(driver), aClaim("c", "later", func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "v" })},
			"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"},
		{"claim that was bound but names no volume", []store.Object{immediate, aClaim("c", "now", boundTo(""))},
			"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"},
		{"volume elsewhere", []store.Object{aClaim("c", "later", boundTo("v")), aVolume("v", only(corev1.LabelHostname, "m"))},
			"0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity." + helpless},
		{"volume gone", []store.Object{aClaim("c", "later", boundTo("v"))},
			"0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)." + helpless},
		{"nothing to bind", []store.Object{laterClass("kubernetes.io/no-provisioner"), aClaim("c", "later")},
			"0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind." + helpless},
		{"not allowed here", []store.Object{laterClass(driver, "m"), aClaim("c", "later")},
			"0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind." + helpless},
		{"other node selected", []store.Object{laterClass(driver), aClaim("c", "later", func(c *corev1.PersistentVolumeClaim) {
			c.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "m"}
		})}, "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind." + helpless},
		{"other zone", []store.Object{aClaim("c", "later", boundTo("v")), aVolume("v", func(v *corev1.PersistentVolume) {
			v.Labels = map[string]string{corev1.LabelFailureDomainBetaZone: "z1__z2"}
		})}, "0/1 nodes are available: 1 node(s) had no available volume zone." + helpless},
		{"volume here", []store.Object{aClaim("c", "later", boundTo("v")), aVolume("v", only(corev1.LabelHostname, "n"), func(v *corev1.PersistentVolume) {
			v.Labels = map[string]string{corev1.LabelFailureDomainBetaZone: "z1__z3"}
		})}, ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n", func(n *corev1.Node) { n.Labels[corev1.LabelTopologyZone] = "z3" }))
			w.add(c.objects...)
			w.add(aPod("p", using("c")))
			w.Run(time.Second)
			assert.Equal(t, c.why, w.why("p"))
		})
	}
}

// C-SCHED-6
func TestCapacityOfADriverThatPublishesIt(t *testing.T) {
	yes, no := true, false
	hosts := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: "n"}}
	quantity := func(s string) *resource.Quantity {
		q := resource.MustParse(s)
		return &q
	}
	for _, c := range []struct {
		says      string
		publishes *bool
		capacity  *storagev1.CSIStorageCapacity
		fits      bool
	}{
		{"not published", &no, nil, true},
		{"none", &yes, nil, false},
		{"enough", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "later", NodeTopology: hosts, Capacity: quantity("1Gi")}, true},
		{"too little", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "later", NodeTopology: hosts, Capacity: quantity("1Mi")}, false},
		{"volumes too small", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "later", NodeTopology: hosts, Capacity: quantity("9Gi"), MaximumVolumeSize: quantity("1Mi")}, false},
		{"unknown", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "later", NodeTopology: hosts}, false},
		{"of another class", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "x", NodeTopology: hosts, Capacity: quantity("9Gi")}, false},
		{"nowhere", &yes, &storagev1.CSIStorageCapacity{StorageClassName: "later", Capacity: quantity("9Gi")}, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n"), laterClass(driver), aClaim("c", "later"),
				&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: c.publishes}})
			if c.capacity != nil {
				c.capacity.Namespace, c.capacity.Name = "default", "cap"
				w.add(c.capacity)
			}
			w.add(aPod("p", using("c")))
			w.Run(time.Second)
			if c.fits {
				assert.Empty(t, w.why("p"))
			} else {
				assert.Contains(t, w.why("p"), "node(s) did not have enough free storage")
			}
		})
	}
}

// Trace f, fact 34, C-SCHED-50: the claim is freed when the pod ends, not when its deletion begins.
func TestExclusiveClaimWaitsForThePodThatHasIt(t *testing.T) {
	w := guarded(t)
	w.add(aNode("node-a"), aNode("node-b"), aClaim("f", "later", boundTo("v"), exclusively), aVolume("v"), aPod("f1", using("f"), on("node-a")))
	w.Run(time.Second)
	w.add(aPod("f2", using("f"), on("node-a")))
	w.Run(time.Second)
	assert.Equal(t, "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.", w.why("f2"))
	_, err := store.ModifyStatus(w.Store, store.Key{Namespace: "default", Name: "f1"}, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	assert.NoError(t, err)
	w.Run(time.Second)
	assert.Equal(t, "node-a", w.nodeOf("f2"))
}

// Trace r, fact 39, C-SCHED-20 to C-SCHED-24: a volume counts on its node until its attachment is
// deleted.
func TestAttachLimitCountsPodsAndAttachments(t *testing.T) {
	w := guarded(t)
	w.add(aNode("node-a"), aNode("node-b"), csiNode("node-a", 1),
		aClaim("r1", "later", boundTo("v1")), aVolume("v1"), aClaim("r2", "later", boundTo("v2")), aVolume("v2"),
		aPod("r1", using("r1"), on("node-a")))
	w.Run(time.Second)
	w.add(attachment("va", "v1", "node-a"), aPod("r2", using("r2"), on("node-a")))
	w.Run(time.Second)
	const why = "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) exceed max volume count. no new claims to deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
	assert.Equal(t, why, w.why("r2"))
	remove[*corev1.Pod](w, "default", "r1")
	w.Run(time.Second)
	assert.Equal(t, why, w.why("r2"))
	remove[*storagev1.VolumeAttachment](w, "", "va")
	w.Run(time.Second)
	assert.Equal(t, "node-a", w.nodeOf("r2"))
}

// C-SCHED-22, C-SCHED-23, C-SCHED-24
func TestAttachLimit(t *testing.T) {
	for _, c := range []struct {
		says  string
		limit int32
		extra []store.Object
		fits  bool
	}{
		{"room for one more", 2, nil, true},
		{"full", 1, nil, false},
		{"volume that is in use there already", 1, []store.Object{aPod("p", using("c1"))}, true},
		{"attached and in use counts once", 2, []store.Object{attachment("va", "v1", "n")}, true},
		{"attached and not in use", 2, []store.Object{attachment("va", "v3", "n"), aVolume("v3")}, false},
		{"the wanted one, attached and not in use, counts twice", 2, []store.Object{attachment("va", "v2", "n")}, false},
		{"attached twice", 3, []store.Object{attachment("va", "v3", "n"), attachment("vb", "v3", "n"), aVolume("v3")}, true},
		{"attached elsewhere", 2, []store.Object{attachment("va", "v3", "m"), aVolume("v3")}, true},
		{"attached and about to be detached", 2, []store.Object{attachment("va", "v3", "n", beingDeleted), aVolume("v3")}, false},
		{"attached by another driver", 2, []store.Object{attachment("va", "v3", "n", by("x.example.com")), aVolume("v3")}, true},
		{"attached, but of an in-tree plugin", 2, []store.Object{attachment("va", "v3", "n", by(driver)), aVolume("v3", inTree)}, true},
		{"attachment of an unknown volume", 2, []store.Object{attachment("va", "v9", "n")}, true},
		{"claim to be provisioned", 1, []store.Object{laterClass(driver), aClaim("c3", "later"), aPod("p", using("c3"))}, false},
		{"claim of another driver", 1, []store.Object{laterClass("x.example.com"), aClaim("c3", "later"), aPod("p", using("c3"))}, true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n"), csiNode("n", c.limit),
				aClaim("c1", "later", boundTo("v1")), aVolume("v1"), aClaim("c2", "later", boundTo("v2")), aVolume("v2"), aPod("first", using("c1")))
			w.Run(time.Second)
			hasPod := false
			for _, obj := range c.extra {
				_, isPod := obj.(*corev1.Pod)
				hasPod = hasPod || isPod
				w.add(obj)
			}
			if !hasPod {
				w.add(aPod("p", using("c2")))
			}
			w.Run(time.Second)
			if c.fits {
				pod, _ := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "p"})
				assert.True(t, w.scheduler.cluster.isPlaced(pod), w.why("p"))
			} else {
				assert.Contains(t, w.why("p"), "node(s) exceed max volume count")
			}
		})
	}
}

// C-SCHED-21
func TestNodesWithoutALimitTakeAnyNumber(t *testing.T) {
	for says, n := range map[string]*storagev1.CSINode{
		"no CSINode":   nil,
		"no driver":    {ObjectMeta: metav1.ObjectMeta{Name: "n"}},
		"no limit":     {ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: "n"}}}},
		"no count":     {ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{}}}}},
		"other driver": {ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "x.example.com", NodeID: "n", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32)}}}}},
	} {
		t.Run(says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n"), aClaim("c", "later", boundTo("v")), aVolume("v"))
			if n != nil {
				w.add(n)
			}
			w.add(aPod("p", using("c")))
			w.Run(time.Second)
			assert.Equal(t, "n", w.nodeOf("p"))
		})
	}
}

// C-SCHED-3: for an in-tree volume the affinity is translated to the labels of its driver only on
// nodes that report the migration; for some plugins it is never translated.
func TestAffinityOfAnInTreeVolume(t *testing.T) {
	const beta = corev1.LabelFailureDomainBetaZone
	disk := func(v *corev1.PersistentVolume) {
		v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}}
	}
	for _, c := range []struct {
		says       string
		annotation string
		label      string
		fits       bool
	}{
		{"migrated, label of the driver", "kubernetes.io/aws-ebs", "topology.ebs.csi.aws.com/zone", true},
		{"migrated, label of the plugin", "kubernetes.io/aws-ebs", beta, false},
		{"not migrated, label of the driver", "", "topology.ebs.csi.aws.com/zone", false},
		{"not migrated, label of the plugin", "", beta, true},
		{"another plugin is migrated", "kubernetes.io/gce-pd", beta, true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n", func(n *corev1.Node) { n.Labels[c.label] = "z1" }),
				&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n", Annotations: map[string]string{corev1.MigratedPluginsAnnotationKey: c.annotation}}},
				aClaim("c", "later", boundTo("v")), aVolume("v", disk, only(beta, "z1")), aPod("p", using("c")))
			w.Run(time.Second)
			if c.fits {
				assert.Equal(t, "n", w.nodeOf("p"))
			} else {
				assert.Contains(t, w.why("p"), "node(s) didn't match PersistentVolume's node affinity")
			}
		})
	}
}

// C-SCHED-26
func TestNodesWithoutARequiredDriver(t *testing.T) {
	for _, c := range []struct {
		says                  string
		gate, asks, installed bool
		fits                  bool
	}{
		{"installed", true, true, true, true},
		{"not installed", true, true, false, false},
		{"not installed, but not asked for", true, false, false, true},
		{"not installed, but the gate is off", false, true, false, true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.Features = feature.Gates{feature.VolumeLimitScaling: c.gate}
			w.add(aNode("n"), aClaim("c", "later", boundTo("v")), aVolume("v"),
				&storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{PreventPodSchedulingIfMissing: &c.asks}})
			if c.installed {
				w.add(csiNode("n", 9))
			}
			w.add(aPod("p", using("c")))
			w.Run(time.Second)
			if c.fits {
				assert.Equal(t, "n", w.nodeOf("p"))
			} else {
				assert.Contains(t, w.why("p"), "1 d.example.com CSI driver is not installed on the node.")
			}
		})
	}
}

// C-SCHED-4, C-SCHED-7, C-SCHED-8: static volumes of a delayed class
func TestDelayedClaimsGetVolumesOfTheirNode(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n1"), aNode("n2"), laterClass("kubernetes.io/no-provisioner"),
		aVolume("local-1", only(corev1.LabelHostname, "n2")), aVolume("local-2", only(corev1.LabelHostname, "n2")),
		aClaim("a", "later"), aClaim("b", "later"))
	w.available("local-1")
	w.available("local-2")
	w.add(aPod("p", using("a", "b")))
	w.Run(500 * time.Millisecond)
	for _, name := range []string{"local-1", "local-2"} {
		pv, _ := store.Get[*corev1.PersistentVolume](w.Store, store.Key{Name: name})
		if assert.NotNil(t, pv.Spec.ClaimRef) {
			assert.Equal(t, map[string]string{"local-1": "a", "local-2": "b"}[name], pv.Spec.ClaimRef.Name)
		}
	}
	assert.Empty(t, w.nodeOf("p"))
	for claim, volume := range map[string]string{"a": "local-1", "b": "local-2"} {
		modify(w, "default", claim, boundTo(volume))
	}
	w.Run(400 * time.Millisecond)
	assert.Empty(t, w.nodeOf("p"), "it looks once a second")
	w.Run(200 * time.Millisecond)
	assert.Equal(t, "n2", w.nodeOf("p"))
}

// C-SCHED-7: a volume that is assumed for one pod is not assigned to another.
func TestAnAssumedVolumeIsNotAssignedTwice(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"), laterClass("kubernetes.io/no-provisioner"), aVolume("local"), aClaim("a", "later"), aClaim("b", "later"))
	w.available("local")
	w.add(aPod("p", using("a")), aPod("q", using("b")))
	w.Run(500 * time.Millisecond)
	assert.Empty(t, w.why("p"))
	assert.Contains(t, w.why("q"), "node(s) didn't find available persistent volumes to bind")
}

// C-SCHED-8: after 600 s the attempt fails and the pod is retried; the annotation stays.
func TestBindingTimesOut(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"), laterClass(driver), aClaim("c", "later"), aPod("p", using("c")))
	w.Run(599 * time.Second)
	assert.Empty(t, w.why("p"))
	w.Run(2 * time.Second)
	assert.Contains(t, w.why("p"), `running PreBind plugin "VolumeBinding": binding volumes: `)
	claim, _ := store.Get[*corev1.PersistentVolumeClaim](w.Store, store.Key{Namespace: "default", Name: "c"})
	assert.Equal(t, "n", claim.Annotations["volume.kubernetes.io/selected-node"]) // C-SCHED-9
	w.add(aVolume("made"))
	modify(w, "default", "c", boundTo("made"))
	w.Run(15 * time.Second)
	assert.Equal(t, "n", w.nodeOf("p"))
}

// A pod that is deleted during the binding of its volumes frees its place.
func TestPodDeletedWhileItsVolumesAreBound(t *testing.T) {
	w := guarded(t)
	w.add(aNode("n"), laterClass(driver), aClaim("c", "later"), aPod("p", using("c")))
	w.Run(5 * time.Second)
	remove[*corev1.Pod](w, "default", "p")
	w.Run(5 * time.Second)
	assert.Empty(t, w.scheduler.cluster.placed)
	assert.Empty(t, w.scheduler.binding)
	assert.Empty(t, w.scheduler.waiters)
}
