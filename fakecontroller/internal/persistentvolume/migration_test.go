package persistentvolume

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// C-PV-36, C-MIG-7: the controller's changes to the finalizers and the annotation of a volume from
// a provisioner.
func TestAVolumeHasTheFinalizerOfItsDeleter(t *testing.T) {
	const (
		inTree, external = "kubernetes.io/pv-controller", "external-provisioner.volume.kubernetes.io/finalizer"
		remove, retain   = corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRetain
		ebs              = "ebs.csi.aws.com"
	)
	off := migration.Plugins{"kubernetes.io/aws-ebs": migration.Disabled}
	for _, c := range []struct {
		says       string
		plugins    migration.Plugins
		by         string // "" is none
		policy     corev1.PersistentVolumeReclaimPolicy
		migratedTo string
		before     []string
		after      []string
		noted      string
	}{
		{says: "without a provisioner", policy: remove, before: []string{inTree}, after: []string{inTree}},
		{says: "without a provisioner, with an annotation", policy: remove, migratedTo: ebs, noted: ebs},
		{says: "made by a driver", by: "d.example.com", policy: remove, before: []string{external, inTree}, after: []string{external, inTree}},
		{says: "made in-tree, migrated since", by: "kubernetes.io/aws-ebs", policy: remove, before: []string{inTree, external}, after: []string{external}, noted: ebs},
		{says: "made in-tree, to be deleted", plugins: off, by: "kubernetes.io/aws-ebs", policy: remove, after: []string{inTree}},
		{says: "made in-tree, to be kept", plugins: off, by: "kubernetes.io/aws-ebs", policy: retain, before: []string{inTree, external}},
		{says: "migration was given up", plugins: off, by: "kubernetes.io/aws-ebs", policy: remove, migratedTo: ebs, before: []string{external}, after: []string{inTree}},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			w.Migration = c.plugins
			pv := aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) {
				pv.Spec.PersistentVolumeReclaimPolicy, pv.Finalizers, pv.Annotations = c.policy, c.before, map[string]string{}
				if c.by != "" {
					pv.Annotations["pv.kubernetes.io/provisioned-by"] = c.by
				}
				if c.migratedTo != "" {
					pv.Annotations["pv.kubernetes.io/migrated-to"] = c.migratedTo
				}
			})
			w.add(pv)
			w.Run(time.Second)
			assert.ElementsMatch(t, append([]string{"kubernetes.io/pv-protection"}, c.after...), w.volume("v").Finalizers)
			assert.Equal(t, c.noted, w.volume("v").Annotations["pv.kubernetes.io/migrated-to"])
		})
	}
}

// C-PV-10, C-MIG-7: a claim is annotated before all other steps. The current annotation takes
// precedence over the beta one.
func TestAClaimIsAnnotatedWithTheDriverThatReplacesItsPlugin(t *testing.T) {
	const now, beta = "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"
	for _, c := range []struct {
		says        string
		annotations map[string]string
		noted       string
	}{
		{"no provisioner is named", map[string]string{"pv.kubernetes.io/migrated-to": "d.example.com"}, "d.example.com"},
		{"a plugin is named", map[string]string{now: "kubernetes.io/aws-ebs"}, "ebs.csi.aws.com"},
		{"a plugin is named as it was in beta", map[string]string{beta: "kubernetes.io/aws-ebs"}, "ebs.csi.aws.com"},
		{"a driver is named now", map[string]string{now: "d.example.com", beta: "kubernetes.io/aws-ebs", "pv.kubernetes.io/migrated-to": "x"}, ""},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			w.add(aClaim("1Gi", modes{rwo}, classless, func(pvc claim) { pvc.Annotations = c.annotations }))
			w.Run(time.Second)
			pvc, _ := store.Get[claim](w.Store, store.KeyOf(w.claim()))
			assert.Equal(t, c.noted, pvc.Annotations["pv.kubernetes.io/migrated-to"])
		})
	}
}

// Before v1.31 the controller does not change finalizers, even those that csi-provisioner has
// added. C-PV-36 [gate HonorPVReclaimPolicy; kubernetes-csi/external-provisioner#576]
func TestOldVersionsLeaveFinalizersOfVolumesAlone(t *testing.T) {
	const inTree, external = "kubernetes.io/pv-controller", "external-provisioner.volume.kubernetes.io/finalizer"
	for v, want := range map[version.Version]string{version.HonorReclaimPolicy.Before(): external, version.HonorReclaimPolicy.Before() + 1: inTree} {
		w := newWorld(t)
		w.controller.Version = v
		w.Migration = migration.Plugins{"kubernetes.io/aws-ebs": migration.Disabled}
		w.add(aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) {
			pv.Spec.PersistentVolumeReclaimPolicy, pv.Finalizers = corev1.PersistentVolumeReclaimDelete, []string{external}
			pv.Annotations = map[string]string{"pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs"}
		}))
		w.Run(time.Second)
		assert.ElementsMatch(t, []string{"kubernetes.io/pv-protection", want}, w.volume("v").Finalizers, v.String())
	}
}
