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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/api/unsimulated"
)

var update = flag.Bool("update", false, "write docs/reference/not-simulated.md anew")

// harmless are fields that no code reads and that change nothing for storage or pods here: other
// fields say the same, they are checked and used by the API server, they are volumes of plugins
// that are migrated to drivers, or they concern the rights of containers on a real computer.
var harmless = strings.Fields(`
	Pod:serviceAccount Pod:priorityClassName Pod:imagePullSecrets Pod:enableServiceLinks Pod:setHostnameAsFQDN Pod:overhead Pod:runtimeClassName
	Pod:affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys Pod:affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys
	Pod:affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.matchLabelKeys Pod:affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.mismatchLabelKeys
	Pod:securityContext.windowsOptions Pod:securityContext.seccompProfile Pod:securityContext.appArmorProfile
	Pod:volumes.image.reference Pod:volumes.image.pullPolicy Pod:volumes.rbd.user Pod:volumes.rbd.keyring
	PersistentVolume:rbd.user PersistentVolume:rbd.keyring
	Pod:volumes.cinder Pod:volumes.azureFile Pod:volumes.azureDisk Pod:volumes.vsphereVolume Pod:volumes.portworxVolume
	PersistentVolume:cinder PersistentVolume:azureFile PersistentVolume:azureDisk PersistentVolume:vsphereVolume PersistentVolume:portworxVolume
	StorageClass:allowVolumeExpansion
	Job:podFailurePolicy.rules.onExitCodes Job:podFailurePolicy.rules.onPodConditions Job:successPolicy.rules.succeededIndexes Job:successPolicy.rules.succeededCount
`)

// ofComputers lists parts of paths of such fields of containers, and of in-tree volumes that have
// other fields which are read.
var ofComputers = []string{"ephemeralContainers.", "securityContext.windowsOptions", "securityContext.procMount", "securityContext.seccompProfile",
	"securityContext.appArmorProfile", "lifecycle.stopSignal", "iscsi."}

// Each field that no code reads is in the list, or has a reason not to be; and none is in the list
// that some code reads.
func TestFieldsThatNoCodeReadsAreListed(t *testing.T) {
	read := fieldsRead(t)
	var found []string
	for name, typ := range map[string]reflect.Type{
		"Pod": reflect.TypeFor[corev1.PodSpec](), "Job": reflect.TypeFor[batchv1.JobSpec](), "Deployment": reflect.TypeFor[appsv1.DeploymentSpec](),
		"StatefulSet": reflect.TypeFor[appsv1.StatefulSetSpec](), "DaemonSet": reflect.TypeFor[appsv1.DaemonSetSpec](),
		"PersistentVolume": reflect.TypeFor[corev1.PersistentVolumeSpec](), "PersistentVolumeClaim": reflect.TypeFor[corev1.PersistentVolumeClaimSpec](),
		"StorageClass": reflect.TypeFor[storagev1.StorageClass](), "CSIDriver": reflect.TypeFor[storagev1.CSIDriverSpec](),
	} {
		for _, path := range unread(typ, "", read, map[reflect.Type]bool{}) {
			isHarmless := slices.Contains(harmless, name+":"+path) || slices.ContainsFunc(ofComputers, func(part string) bool { return strings.Contains(path, part) })
			if !isHarmless && !strings.HasPrefix(path, "template.") {
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
	assert.ElementsMatch(t, found, listed)
}

func TestFieldsWithoutEffectAreNamed(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 1}},
		Volumes:                   []corev1.Volume{{Name: "a"}, {Name: "b", VolumeSource: corev1.VolumeSource{NFS: &corev1.NFSVolumeSource{Server: "s"}}}},
	}}
	assert.Equal(t, []string{
		"spec.topologySpreadConstraints has no effect in csisim: pods go to the nodes with the fewest pods",
		"spec.volumes.nfs has no effect in csisim: the volume is taken for one that is there: nothing is mounted",
	}, unsimulated.Of(pod))
	assert.Empty(t, unsimulated.Of(&corev1.Pod{}))
	assert.Equal(t, []string{"spec.paused has no effect in csisim: the rollout goes on"}, unsimulated.Of(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Paused: true}}))
	assert.Empty(t, unsimulated.Of(&batchv1.Job{Spec: batchv1.JobSpec{PodReplacementPolicy: new(batchv1.TerminatingOrFailed)}}))
}

// Looking costs nothing worth mentioning: each object of each run is looked at.
func TestLookingAllocatesNothing(t *testing.T) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 2), Volumes: make([]corev1.Volume, 2)}}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { unsimulated.Of(pod) }), 2.0)
}

// The page is as the list says.
func TestPage(t *testing.T) {
	var page strings.Builder
	page.WriteString(`# What is not simulated

Fields that a real cluster acts on and csisim does not. An object that sets one of them is accepted; the API answers with a
` + "`Warning:`" + ` header, which kubectl prints, and a run has a note. A test walks the types of the kinds and the code that acts on
objects: a field that no code reads is listed here, or is harmless to storage and pods. This page is made by
` + "`go test ./internal/api/unsimulated -update`" + `.

Kinds that are kept as they are written are listed in [api.md](api.md).
`)
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
