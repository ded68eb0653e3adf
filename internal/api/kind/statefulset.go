package kind

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

func init() {
	register(Kind{
		Group: "apps", Version: "v1", Name: "StatefulSet",
		ShortNames: []string{"sts"}, Categories: []string{"all"},
		traits: withStatus | withGeneration, rules: statefulSetRules,
		Columns:  statefulSetColumns,
		Warnings: fromBoth(statefulSetWarnings),
		Scale: scaleOf(func(o *appsv1.StatefulSet) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var statefulSetRules = rules[*appsv1.StatefulSet]{
	// Its pods use it as a hostname.
	name: func(name string, _ bool) []string { return objectname.Label(name) },
	fill: func(obj *appsv1.StatefulSet) { fillStatefulSet(&obj.Spec) },
	admit: func(_ admission, obj *appsv1.StatefulSet) error {
		dropMaxUnavailable(&obj.Spec)
		return nil
	},
	prepare: func(obj, _ *appsv1.StatefulSet) { dropMaxUnavailable(&obj.Spec) },
	validate: func(set *appsv1.StatefulSet) field.ErrorList {
		return checkStatefulSet(&set.Spec, claimTemplates(set.Spec.VolumeClaimTemplates), serviceName(set.Spec.ServiceName))
	},
	// Immutable fields are not checked again.
	validateUpdate: func(obj, old *appsv1.StatefulSet) field.ErrorList {
		set, was := &obj.Spec, &old.Spec
		return append(checkStatefulSet(set, nil, nil), checkStatefulSetChange(set, was)...)
	},
	validateStatus: func(obj, old *appsv1.StatefulSet) field.ErrorList {
		return checkStatefulSetStatus(&obj.Status, &old.Status)
	},
}

// dropMaxUnavailable clears a field of the gate MaxUnavailableStatefulSet, which is off.
func dropMaxUnavailable(spec *appsv1.StatefulSetSpec) {
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil {
		rolling.MaxUnavailable = nil
	}
}

func fillStatefulSet(spec *appsv1.StatefulSetSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	if strategy := &spec.UpdateStrategy; strategy.Type == "" {
		strategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		setDefault(&strategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	}
	if rolling := spec.UpdateStrategy.RollingUpdate; rolling != nil {
		setDefault(&rolling.Partition, 0)
	}
	setDefault(&spec.PersistentVolumeClaimRetentionPolicy, appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{})
	setEmpty(&spec.PersistentVolumeClaimRetentionPolicy.WhenDeleted, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	setEmpty(&spec.PersistentVolumeClaimRetentionPolicy.WhenScaled, appsv1.RetainPersistentVolumeClaimRetentionPolicyType)
	fillPodSpec(&spec.Template.Spec)
	for i := range spec.VolumeClaimTemplates {
		claim := &spec.VolumeClaimTemplates[i]
		claim.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"))
		fillClaim(claim)
	}
}

// checkStatefulSet checks a spec. It places the field errors of its claims and of its service's
// name where the real server reports them.
func checkStatefulSet(spec *appsv1.StatefulSetSpec, ofClaims, ofService field.ErrorList) field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if policy := spec.PodManagementPolicy; policy != appsv1.OrderedReadyPodManagement && policy != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(at.Child("podManagementPolicy"), policy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	errs = append(errs, statefulSetStrategy(&spec.UpdateStrategy, at.Child("updateStrategy"))...)
	retention := spec.PersistentVolumeClaimRetentionPolicy
	errs = append(errs, oneOf(at.Child("persistentVolumeClaimRetentionPolicy", "whenDeleted"), retention.WhenDeleted,
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)...)
	errs = append(errs, oneOf(at.Child("persistentVolumeClaimRetentionPolicy", "whenScaled"), retention.WhenScaled,
		appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType)...)
	errs = append(errs, ofClaims...)
	errs = append(errs, replicas(at.Child("replicas"), *spec.Replicas)...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(spec.MinReadySeconds))...)
	if spec.Ordinals != nil {
		errs = append(errs, natural(at.Child("ordinals.start"), int64(spec.Ordinals.Start))...)
	}
	errs = append(errs, ofService...)
	template := spec.Template.DeepCopy()
	template.Spec.Hostname, template.Spec.Subdomain = "", "" // the controller names its pods
	template.Spec.Volumes = withClaims(template.Spec.Volumes, spec.VolumeClaimTemplates)
	return append(errs, workloadSpec{kind: "statefulset", pods: "StatefulSet", selector: spec.Selector, template: template}.check()...)
}

func claimTemplates(claims []corev1.PersistentVolumeClaim) (errs field.ErrorList) {
	for i := range claims {
		errs = append(errs, checkClaim(&claims[i].Spec, field.NewPath("spec", "volumeClaimTemplates").Index(i).Child("spec"))...)
	}
	return errs
}

func serviceName(name string) field.ErrorList {
	if name == "" {
		return nil
	}
	return invalid(field.NewPath("spec", "serviceName"), name, objectname.Label(name))
}

func statefulSetStrategy(strategy *appsv1.StatefulSetUpdateStrategy, at *field.Path) field.ErrorList {
	rolling := strategy.RollingUpdate
	switch strategy.Type {
	case appsv1.RollingUpdateStatefulSetStrategyType:
		if rolling == nil {
			return nil
		}
		return natural(at.Child("rollingUpdate", "partition"), int64(*rolling.Partition))
	case appsv1.OnDeleteStatefulSetStrategyType:
		if rolling == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(at.Child("rollingUpdate"), goNames{rolling}, "only allowed for updateStrategy 'RollingUpdate'")}
	}
	return field.ErrorList{field.Invalid(at, goNames{strategy}, "must be 'RollingUpdate' or 'OnDelete'")}
}

func checkStatefulSetStatus(now, was *appsv1.StatefulSetStatus) field.ErrorList {
	all, current := tally{"replicas", int64(now.Replicas)}, tally{"currentReplicas", int64(now.CurrentReplicas)}
	ready, updated, available := tally{"readyReplicas", int64(now.ReadyReplicas)}, tally{"updatedReplicas", int64(now.UpdatedReplicas)}, tally{"availableReplicas", int64(now.AvailableReplicas)}
	errs := tallies(all, ready, current, updated, available, tally{"observedGeneration", now.ObservedGeneration},
		tally{"collisionCount", int64(orZero(now.CollisionCount))})
	errs = append(errs, atMost(all, "status.replicas", ready, current, updated, available)...)
	errs = append(errs, atMost(ready, "status.readyReplicas", available)...)
	return append(errs, collisions(now.CollisionCount, was.CollisionCount)...)
}

func statefulSetWarnings(set, old *appsv1.StatefulSet) (texts []string) {
	if old == nil || old.Generation != set.Generation {
		texts = podWarnings(field.NewPath("spec", "template"), &set.Spec.Template.Spec)
	}
	claims := field.NewPath("spec", "volumeClaimTemplates")
	for i := range set.Spec.VolumeClaimTemplates {
		at := claims.Index(i)
		if old != nil {
			at = at.Child("Spec")
		}
		texts = append(texts, sizeWarnings(at, &set.Spec.VolumeClaimTemplates[i].Spec)...)
	}
	if *set.Spec.RevisionHistoryLimit < 0 {
		texts = append(texts, "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
	return texts
}

// withClaims returns the volumes of a set's pods, starting with those of its claims.
func withClaims(volumes []corev1.Volume, claims []corev1.PersistentVolumeClaim) []corev1.Volume {
	var all []corev1.Volume
	made := map[string]bool{}
	for i := range claims {
		made[claims[i].Name] = true
		all = append(all, corev1.Volume{Name: claims[i].Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claims[i].Name},
		}})
	}
	for _, v := range volumes {
		if !made[v.Name] {
			all = append(all, v)
		}
	}
	return all
}

// checkStatefulSetChange permits changes of few fields.
func checkStatefulSetChange(spec, old *appsv1.StatefulSetSpec) field.ErrorList {
	kept := old.DeepCopy()
	kept.Replicas, kept.Ordinals, kept.Template, kept.UpdateStrategy = spec.Replicas, spec.Ordinals, spec.Template, spec.UpdateStrategy
	kept.RevisionHistoryLimit, kept.MinReadySeconds = spec.RevisionHistoryLimit, spec.MinReadySeconds
	kept.PersistentVolumeClaimRetentionPolicy = spec.PersistentVolumeClaimRetentionPolicy
	if equality.Semantic.DeepEqual(kept, spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec"), "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "+
		"'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")}
}

var statefulSetColumns = append([]Column{
	nameColumn,
	text("Ready", func(s *appsv1.StatefulSet) string {
		return fmt.Sprintf("%d/%d", s.Status.ReadyReplicas, wanted(s.Spec.Replicas))
	}),
	ageColumn,
}, containerColumns(func(s *appsv1.StatefulSet) corev1.PodSpec { return s.Spec.Template.Spec })...)
