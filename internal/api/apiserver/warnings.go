package apiserver

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// warnings are what the real server says of objects that it takes. old is what they
// replace, nil for a new one.
func warnings(obj, old store.Object) []string {
	spec := field.NewPath("spec")
	switch o := obj.(type) {
	case *corev1.PersistentVolume:
		return volumeWarnings(o)
	case *corev1.PersistentVolumeClaim:
		return append(annotationWarnings(o.Annotations, betaClass), sizeWarnings(spec, &o.Spec)...)
	case *storagev1.StorageClass:
		return topologyWarnings(o.AllowedTopologies)
	case *storagev1.CSIStorageCapacity:
		return selectorWarnings(field.NewPath("nodeTopology"), o.NodeTopology)
	case *storagev1.CSIDriver:
		return driverWarnings(o, old)
	case *corev1.Node:
		return nodeWarnings(&o.Spec)
	case *corev1.Pod:
		return podWarnings(nil, &o.Spec)
	case *appsv1.StatefulSet:
		return append(podWarnings(spec.Child("template"), &o.Spec.Template.Spec), templateWarnings(spec.Child("volumeClaimTemplates"), o.Spec.VolumeClaimTemplates)...)
	case *appsv1.Deployment:
		return podWarnings(spec.Child("template"), &o.Spec.Template.Spec)
	case *appsv1.DaemonSet:
		return podWarnings(spec.Child("template"), &o.Spec.Template.Spec)
	case *appsv1.ReplicaSet:
		return podWarnings(spec.Child("template"), &o.Spec.Template.Spec)
	case *batchv1.Job:
		return podWarnings(spec.Child("template"), &o.Spec.Template.Spec)
	case *batchv1.CronJob:
		return podWarnings(spec.Child("jobTemplate", "spec", "template"), &o.Spec.JobTemplate.Spec.Template.Spec)
	}
	return nil
}

// oldAnnotations are those of volumes and claims that a field has taken over.
var oldAnnotations = map[string]string{
	betaClass:                    `deprecated since v1.8; use "storageClassName" attribute instead`,
	corev1.MountOptionAnnotation: `deprecated since v1.31; use "mountOptions" attribute instead`,
}

func annotationWarnings(annotations map[string]string, names ...string) (texts []string) {
	for _, name := range names {
		if _, ok := annotations[name]; ok {
			texts = append(texts, fmt.Sprintf("metadata.annotations[%s]: %s", name, oldAnnotations[name]))
		}
	}
	return texts
}

// oldSources are the kinds of volumes that are on their way out.
var oldSources = []struct{ name, since, gone string }{
	{"cephfs", "v1.28", "v1.31+"}, {"photonPersistentDisk", "v1.11", "v1.16+"}, {"scaleIO", "v1.16", "v1.22+"},
	{"flocker", "v1.22", "v1.25+"}, {"quobyte", "v1.22", "v1.25+"},
	{"storageOS", "v1.22", "v1.25+"}, {"glusterfs", "v1.25", "v1.26+"}, {"rbd", "v1.28", "v1.31+"},
}

func sourceWarnings(path *field.Path, given map[string]bool) (texts []string) {
	for _, old := range oldSources {
		if given[old.name] {
			texts = append(texts, fmt.Sprintf("%s: deprecated in %s, non-functional in %s", path.Child(old.name), old.since, old.gone))
		}
	}
	return texts
}

func volumeWarnings(pv *corev1.PersistentVolume) []string {
	texts, spec := annotationWarnings(pv.Annotations, betaClass, corev1.MountOptionAnnotation), field.NewPath("spec")
	if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if affinity := pv.Spec.NodeAffinity; affinity != nil {
		texts = append(texts, nodeSelectorWarnings(spec.Child("nodeAffinity", "required"), affinity.Required)...)
	}
	source := &pv.Spec.PersistentVolumeSource
	return append(texts, sourceWarnings(spec, map[string]bool{
		"cephfs": source.CephFS != nil, "photonPersistentDisk": source.PhotonPersistentDisk != nil, "scaleIO": source.ScaleIO != nil,
		"storageOS": source.StorageOS != nil, "glusterfs": source.Glusterfs != nil, "rbd": source.RBD != nil,
	})...)
}

func sizeWarnings(spec *field.Path, claim *corev1.PersistentVolumeClaimSpec) []string {
	return append(fractionWarning(spec.Child("resources", "requests").Key("storage"), claim.Resources.Requests, corev1.ResourceStorage),
		fractionWarning(spec.Child("resources", "limits").Key("storage"), claim.Resources.Limits, corev1.ResourceStorage)...)
}

func fractionWarning(path *field.Path, sizes corev1.ResourceList, name corev1.ResourceName) []string {
	size, ok := sizes[name]
	if !ok || size.MilliValue()%1000 == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", path, size.String())}
}

func templateWarnings(path *field.Path, claims []corev1.PersistentVolumeClaim) (texts []string) {
	for i := range claims {
		texts = append(texts, sizeWarnings(path.Index(i).Child("Spec"), &claims[i].Spec)...)
	}
	return texts
}

// driverWarnings: whoever sets what tokens a driver gets is warned of where they go.
func driverWarnings(driver *storagev1.CSIDriver, old store.Object) []string {
	if len(driver.Spec.TokenRequests) == 0 || driver.Spec.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	if was, ok := old.(*storagev1.CSIDriver); ok && equality.Semantic.DeepEqual(was.Spec.TokenRequests, driver.Spec.TokenRequests) {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}
}

func nodeWarnings(spec *corev1.NodeSpec) (texts []string) {
	//lint:ignore SA1019 clients may still send it
	if spec.ConfigSource != nil {
		texts = append(texts, "spec.configSource: the feature is removed")
	}
	if spec.DoNotUseExternalID != "" {
		texts = append(texts, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	return texts
}

// oldLabels are labels of nodes that have other names now.
var oldLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func topologyWarnings(terms []corev1.TopologySelectorTerm) (texts []string) {
	for i, term := range terms {
		for j, expression := range term.MatchLabelExpressions {
			if text, ok := oldLabels[expression.Key]; ok {
				at := field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key")
				texts = append(texts, fmt.Sprintf("%s: %s", at, text))
			}
		}
	}
	return texts
}

func selectorWarnings(path *field.Path, selector *metav1.LabelSelector) (texts []string) {
	if selector == nil {
		return nil
	}
	for i, expression := range selector.MatchExpressions {
		if text, ok := oldLabels[expression.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("matchExpressions").Index(i).Child("key"), expression.Key, text))
		}
	}
	for _, label := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		if text, ok := oldLabels[label]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", path.Child("matchLabels").Child(label), text))
		}
	}
	return texts
}

func nodeSelectorWarnings(path *field.Path, selector *corev1.NodeSelector) (texts []string) {
	if selector == nil {
		return nil
	}
	for i, term := range selector.NodeSelectorTerms {
		for j, expression := range term.MatchExpressions {
			if text, ok := oldLabels[expression.Key]; ok {
				at := path.Child("nodeSelectorTerms").Index(i).Child("matchExpressions").Index(j).Child("key")
				texts = append(texts, fmt.Sprintf("%s: %s is %s", at, expression.Key, text))
			}
		}
	}
	return texts
}

// podWarnings are about a pod, or a template of pods at a path.
func podWarnings(path *field.Path, pod *corev1.PodSpec) (texts []string) {
	spec := path.Child("spec")
	for _, label := range slices.Sorted(maps.Keys(pod.NodeSelector)) {
		if text, ok := oldLabels[label]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", spec.Child("nodeSelector").Key(label), text))
		}
	}
	if pod.Affinity != nil && pod.Affinity.NodeAffinity != nil {
		at := spec.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
		texts = append(texts, nodeSelectorWarnings(at, pod.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)...)
	}
	for i, constraint := range pod.TopologySpreadConstraints {
		at := spec.Child("topologySpreadConstraints").Index(i)
		if text, ok := oldLabels[constraint.TopologyKey]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", at.Child("topologyKey"), constraint.TopologyKey, text))
		}
		if constraint.LabelSelector == nil {
			texts = append(texts, fmt.Sprintf("%s: a null labelSelector results in matching no pod", at.Child("labelSelector")))
		}
	}
	for i := range pod.Volumes {
		texts = append(texts, podVolumeWarnings(spec.Child("volumes").Index(i), &pod.Volumes[i])...)
	}
	texts = append(texts, pullSecretWarnings(spec.Child("imagePullSecrets"), pod.ImagePullSecrets)...)
	for i := range pod.InitContainers {
		texts = append(texts, containerWarnings(spec.Child("initContainers").Index(i), &pod.InitContainers[i])...)
	}
	for i := range pod.Containers {
		texts = append(texts, containerWarnings(spec.Child("containers").Index(i), &pod.Containers[i])...)
	}
	return texts
}

func podVolumeWarnings(at *field.Path, v *corev1.Volume) (texts []string) {
	if v.GitRepo != nil {
		texts = append(texts, fmt.Sprintf("%s: deprecated in v1.11, and disabled by default in v1.33+", at.Child("gitRepo")))
	}
	texts = append(texts, sourceWarnings(at, map[string]bool{
		"cephfs": v.CephFS != nil, "photonPersistentDisk": v.PhotonPersistentDisk != nil, "scaleIO": v.ScaleIO != nil, "flocker": v.Flocker != nil,
		"quobyte": v.Quobyte != nil, "storageOS": v.StorageOS != nil, "glusterfs": v.Glusterfs != nil, "rbd": v.RBD != nil,
	})...)
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		texts = append(texts, sizeWarnings(at.Child("ephemeral", "volumeClaimTemplate", "spec"), &v.Ephemeral.VolumeClaimTemplate.Spec)...)
	}
	return texts
}

func pullSecretWarnings(path *field.Path, secrets []corev1.LocalObjectReference) (texts []string) {
	for i, secret := range secrets {
		if slices.Contains(secrets[:i], secret) {
			texts = append(texts, fmt.Sprintf("%s: duplicate name %q", path.Index(i).Child("name"), secret.Name))
		}
	}
	for i, secret := range secrets {
		if secret.Name == "" {
			texts = append(texts, fmt.Sprintf("%s: invalid empty name %q", path.Index(i).Child("name"), secret.Name))
		}
	}
	return texts
}

func containerWarnings(at *field.Path, c *corev1.Container) (texts []string) {
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		texts = append(texts, fractionWarning(at.Child("resources", "limits").Key(string(name)), c.Resources.Limits, name)...)
		texts = append(texts, fractionWarning(at.Child("resources", "requests").Key(string(name)), c.Resources.Requests, name)...)
	}
	for i, variable := range c.Env {
		same := func(other corev1.EnvVar) bool { return other.Name == variable.Name }
		reference := "$(" + variable.Name + ")"
		extends := variable.ValueFrom == nil && variable.Value != reference && strings.Contains(variable.Value, reference)
		if slices.ContainsFunc(c.Env[:i], same) && !extends {
			texts = append(texts, fmt.Sprintf("%s: hides previous definition of %q, which may be dropped when using apply", at.Child("env").Index(i), variable.Name))
		}
	}
	return texts
}
