package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
		for i, preferred := range pod.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			at := spec.Child("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution").Index(i)
			texts = append(texts, nodeTermWarnings(at.Child("preference"), preferred.Preference, true)...)
		}
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
	texts = append(texts, aliasWarnings(spec.Child("hostAliases"), pod.HostAliases)...)
	texts = append(texts, pullSecretWarnings(spec.Child("imagePullSecrets"), pod.ImagePullSecrets)...)
	for i := range pod.InitContainers {
		texts = append(texts, containerWarnings(spec.Child("initContainers").Index(i), &pod.InitContainers[i])...)
	}
	for i := range pod.Containers {
		texts = append(texts, containerWarnings(spec.Child("containers").Index(i), &pod.Containers[i])...)
	}
	texts = append(texts, portWarnings(spec, pod)...)
	if grace := pod.TerminationGracePeriodSeconds; grace != nil && *grace < 0 {
		texts = append(texts, fmt.Sprintf("%s: must be >= 0; negative values are invalid and will be treated as 1", spec.Child("terminationGracePeriodSeconds")))
	}
	texts = append(texts, affinityWarnings(spec.Child("affinity"), pod.Affinity)...)
	if pod.DNSConfig != nil {
		for i, server := range pod.DNSConfig.Nameservers {
			texts = append(texts, utilvalidation.GetWarningsForIP(spec.Child("dnsConfig", "nameservers").Index(i), server)...)
		}
	}
	for i, alias := range pod.HostAliases {
		texts = append(texts, utilvalidation.GetWarningsForIP(spec.Child("hostAliases").Index(i).Child("ip"), alias.IP)...)
	}
	return texts
}

func aliasWarnings(at *field.Path, aliases []corev1.HostAlias) (texts []string) {
	for i, alias := range aliases {
		if slices.ContainsFunc(aliases[:i], func(other corev1.HostAlias) bool { return other.IP == alias.IP }) {
			texts = append(texts, fmt.Sprintf("%s: duplicate ip %q", at.Index(i).Child("ip"), alias.IP))
		}
	}
	return texts
}

// affinityWarnings are about terms that select no pod.
func affinityWarnings(at *field.Path, a *corev1.Affinity) (texts []string) {
	warn := func(at *field.Path, selector *metav1.LabelSelector) {
		if selector == nil {
			texts = append(texts, fmt.Sprintf("%s: a null labelSelector results in matching no pod", at.Child("labelSelector")))
		}
	}
	terms := func(at *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i, term := range required {
			warn(at.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i), term.LabelSelector)
		}
		for i, term := range preferred {
			warn(at.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm"), term.PodAffinityTerm.LabelSelector)
		}
	}
	if a != nil && a.PodAffinity != nil {
		terms(at.Child("podAffinity"), a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a != nil && a.PodAntiAffinity != nil {
		terms(at.Child("podAntiAffinity"), a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
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
