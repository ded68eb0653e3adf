package unsimulated_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/unsimulated"
	"github.com/csisim/csisim/internal/world/store"
)

var update = flag.Bool("update", false, "write docs/reference/not-simulated.md anew")

// harmless are fields that no code reads and that affect neither storage nor pods here. Other
// fields are redundant, are checked and used by the API server, belong to volumes of migrated
// plugins, or concern the rights of containers on a real computer.
var harmless = strings.Fields(`
	Pod:serviceAccount Pod:priorityClassName Pod:imagePullSecrets Pod:enableServiceLinks Pod:setHostnameAsFQDN Pod:overhead Pod:runtimeClassName
	Pod:affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys Pod:affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys
	Pod:affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys Pod:affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys
	Pod:securityContext.windowsOptions Pod:securityContext.seccompProfile Pod:securityContext.appArmorProfile
	Pod:resources.claims Pod:containers.resources.claims Pod:initContainers.resources.claims
	Pod:schedulingGates.name Pod:securityContext.sysctls.value Pod:volumes.ephemeral.volumeClaimTemplate.spec.resources.limits
	Pod:volumes.cinder Pod:volumes.azureFile Pod:volumes.azureDisk Pod:volumes.vsphereVolume Pod:volumes.portworxVolume
	PersistentVolume:cinder PersistentVolume:azureFile PersistentVolume:azureDisk PersistentVolume:vsphereVolume PersistentVolume:portworxVolume
	Pod:volumes.gcePersistentDisk.fsType Pod:volumes.gcePersistentDisk.partition
	Pod:volumes.awsElasticBlockStore.fsType Pod:volumes.awsElasticBlockStore.partition Pod:volumes.awsElasticBlockStore.readOnly
	PersistentVolume:gcePersistentDisk PersistentVolume:awsElasticBlockStore
	PersistentVolume:local.fsType PersistentVolume:claimRef.kind PersistentVolume:claimRef.apiVersion PersistentVolume:claimRef.resourceVersion
	PersistentVolume:claimRef.fieldPath
	PersistentVolumeClaim:resources.limits StorageClass:allowVolumeExpansion
	StatefulSet:volumeClaimTemplates.spec.resources.limits StatefulSet:volumeClaimTemplates.status.accessModes
	StatefulSet:volumeClaimTemplates.status.conditions.lastProbeTime StatefulSet:volumeClaimTemplates.status.conditions.message
	StatefulSet:updateStrategy.rollingUpdate.maxUnavailable StatefulSet:revisionHistoryLimit
	Job:selector DaemonSet:selector Job:podFailurePolicy.rules.onPodConditions.type Job:podFailurePolicy.rules.onPodConditions.status
`)

// partly lists fields that some code reads although they do not have their full effect on pods. The
// scheduler separates pods that use one disk, and obeys mandatory constraints.
var partly = []string{
	"Pod:volumes.iscsi", "Pod:volumes.rbd", "Pod:topologySpreadConstraints.whenUnsatisfiable", "Pod:volumes.emptyDir.medium",
}

// ofComputers lists parts of paths to such fields: those of containers, and those of in-tree
// volumes with other fields that are read.
var ofComputers = []string{"ephemeralContainers.", "securityContext.windowsOptions", "securityContext.procMount", "securityContext.seccompProfile",
	"securityContext.appArmorProfile", "lifecycle.stopSignal", "volumes.iscsi.", "volumes.rbd.", ".tcpSocket", "fieldRef.apiVersion"}

// The list has each field that no code reads, unless there is a reason against it, and no field
// that some code reads.
func TestFieldsThatNoCodeReadsAreListed(t *testing.T) {
	read := fieldsRead(t)
	var found []string
	for name, typ := range map[string]reflect.Type{
		"Pod": reflect.TypeFor[corev1.PodSpec](), "Job": reflect.TypeFor[batchv1.JobSpec](), "Deployment": reflect.TypeFor[appsv1.DeploymentSpec](),
		"StatefulSet": reflect.TypeFor[appsv1.StatefulSetSpec](), "DaemonSet": reflect.TypeFor[appsv1.DaemonSetSpec](),
		"PersistentVolume": reflect.TypeFor[corev1.PersistentVolumeSpec](), "PersistentVolumeClaim": reflect.TypeFor[corev1.PersistentVolumeClaimSpec](),
		"StorageClass": reflect.TypeFor[storagev1.StorageClass](), "CSIDriver": reflect.TypeFor[storagev1.CSIDriverSpec](),
		"CronJob": reflect.TypeFor[batchv1.CronJobSpec](), "VolumeAttributesClass": reflect.TypeFor[storagev1.VolumeAttributesClass](),
		"VolumeSnapshot": reflect.TypeFor[snapshotv1.VolumeSnapshotSpec](), "VolumeSnapshotClass": reflect.TypeFor[snapshotv1.VolumeSnapshotClass](),
		"VolumeSnapshotContent": reflect.TypeFor[snapshotv1.VolumeSnapshotContentSpec](),
	} {
		for _, path := range unread(typ, "", read, map[reflect.Type]bool{}) {
			isHarmless := slices.Contains(harmless, name+":"+path) || slices.ContainsFunc(ofComputers, func(part string) bool { return strings.Contains(path, part) })
			if !isHarmless && !strings.Contains("."+path, "emplate.") && !strings.Contains(path, "volumeSnapshotRef.") {
				found = append(found, name+":"+path)
			}
		}
	}
	var listed []string
	for kinds, fields := range unsimulated.Listed() {
		name, _, _ := strings.Cut(kinds, ",")
		for _, f := range fields {
			listed = append(listed, name+":"+f.Path)
		}
	}
	assert.ElementsMatch(t, append(found, partly...), listed)
}

func TestFieldsWithoutEffectAreNamed(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1, WhenUnsatisfiable: corev1.ScheduleAnyway}},
		Volumes:                   []corev1.Volume{{Name: "a"}, {Name: "b", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s"}}}},
	}}
	assert.Equal(t, []string{
		"spec.topologySpreadConstraints.whenUnsatisfiable has no effect in csisim: ScheduleAnyway: nodes are not scored",
		"spec.volumes.nfs has no effect in csisim: the volume counts as existing: nothing is mounted",
	}, unsimulated.Of(pod))
	assert.Empty(t, unsimulated.Of(&corev1.Pod{}))
	pod = &corev1.Pod{Spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: corev1.DoNotSchedule}}}}
	assert.Empty(t, unsimulated.Of(pod))
	assert.Equal(t, []string{"spec.paused has no effect in csisim: the rollout continues"}, unsimulated.Of(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Paused: true}}))
}

// The checks are cheap, although each object of each run is checked.
func TestLookingAllocatesNothing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2), Volumes: make([]corev1.Volume, 2)}}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { unsimulated.Of(pod) }), 2.0)
}

// The page agrees with the list.
func TestPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# What is not simulated

Fields that a real cluster acts on and csisim does not. An object that sets one of them is accepted; the API answers with a
` + "`Warning:`" + ` header, which kubectl prints, and a run has a note. A test walks the types of the kinds and the code that acts on
objects: a field that no code reads is listed here, or is harmless to storage and pods. This page is made by
` + "`go test ./internal/api/unsimulated -update`" + `.

All kinds that are kept as they are written are in [api.md](api.md).

## Kinds

| Kind | Instead |
| --- | --- |
`)
	missing := unsimulated.Kinds()
	for _, name := range slices.Sorted(maps.Keys(missing)) {
		fmt.Fprintf(&page, "| %s | %s |\n", name, missing[name])
	}
	listed := unsimulated.Listed()
	for _, kinds := range slices.Sorted(maps.Keys(listed)) {
		fmt.Fprintf(&page, "\n## %s\n\n| Field | Instead |\n| --- | --- |\n", kinds)
		for _, f := range listed[kinds] {
			fmt.Fprintf(&page, "| `%s` | %s |\n", f.Path, f.Missing)
		}
	}
	const name = "../../../docs/reference/not-simulated.md"
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(page.String()), 0o644))
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Equal(t, string(text), page.String(), "go test ./internal/api/unsimulated -update writes it anew")
}

func TestKindsWithoutEffectAreNamed(t *testing.T) {
	assert.Equal(t, []string{"ReplicationController has no effect in csisim: no pods are created"}, unsimulated.Of(&corev1.ReplicationController{}))
	served := map[string]bool{}
	for _, r := range kind.NewStore(store.Options{}).Resources() {
		served[r.GVK.Kind] = true
	}
	for name := range unsimulated.Kinds() {
		assert.True(t, served[name], name)
	}
}

func TestOnlyTheActionThatIsMissingIsNamed(t *testing.T) {
	pod := func(action corev1.ContainerRestartRuleAction) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{RestartPolicyRules: []corev1.ContainerRestartRule{{Action: action}}}}}}
	}
	assert.Empty(t, unsimulated.Of(pod(corev1.ContainerRestartRuleActionRestart)))
	assert.Equal(t, []string{"spec.containers.restartPolicyRules.action has no effect in csisim: RestartAllContainers restarts only that container"},
		unsimulated.Of(pod(corev1.ContainerRestartRuleActionRestartAllContainers)))
}
