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
		Columns: statefulSetColumns,
		Warnings: fromBoth(func(set, _ *appsv1.StatefulSet) []string {
			spec := field.NewPath("spec")
			return append(podWarnings(spec.Child("template"), &set.Spec.Template.Spec), templateWarnings(spec.Child("volumeClaimTemplates"), set.Spec.VolumeClaimTemplates)...)
		}),
		Scale: scaleOf(func(o *appsv1.StatefulSet) (**int32, int32, string) {
			return &o.Spec.Replicas, o.Status.Replicas, selectorText(o.Spec.Selector)
		}),
	})
}

var statefulSetRules = func() rules[*appsv1.StatefulSet] {
	r := rulesOfWorkload(func(s *appsv1.StatefulSet) { fillStatefulSet(&s.Spec) }, checkStatefulSet, checkStatefulSetChange)
	r.name = func(name string, _ bool) []string { return objectname.Label(name) } // its pods have it as a hostname
	return r
}()

func fillStatefulSet(spec *appsv1.StatefulSetSpec) {
	setDefault(&spec.Replicas, 1)
	setDefault(&spec.RevisionHistoryLimit, 10)
	setEmpty(&spec.PodManagementPolicy, appsv1.OrderedReadyPodManagement)
	setEmpty(&spec.UpdateStrategy.Type, appsv1.RollingUpdateStatefulSetStrategyType)
	if spec.UpdateStrategy.Type == appsv1.RollingUpdateStatefulSetStrategyType {
		setDefault(&spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
		setDefault(&spec.UpdateStrategy.RollingUpdate.Partition, 0)
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

func checkStatefulSet(s *appsv1.StatefulSet) field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if policy := s.Spec.PodManagementPolicy; policy != appsv1.OrderedReadyPodManagement && policy != appsv1.ParallelPodManagement {
		errs = append(errs, field.Invalid(at.Child("podManagementPolicy"), policy,
			fmt.Sprintf("must be '%s' or '%s'", appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)))
	}
	for i := range s.Spec.VolumeClaimTemplates {
		errs = append(errs, checkClaim(&s.Spec.VolumeClaimTemplates[i].Spec, at.Child("volumeClaimTemplates").Index(i).Child("spec"))...)
	}
	errs = append(errs, replicas(at.Child("replicas"), *s.Spec.Replicas)...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(s.Spec.MinReadySeconds))...)
	if s.Spec.ServiceName != "" {
		errs = append(errs, invalid(at.Child("serviceName"), s.Spec.ServiceName, objectname.Label(s.Spec.ServiceName))...)
	}
	template := s.Spec.Template.DeepCopy()
	template.Spec.Hostname, template.Spec.Subdomain = "", "" // the controller names its pods
	template.Spec.Volumes = withClaims(template.Spec.Volumes, s.Spec.VolumeClaimTemplates)
	return append(errs, workloadSpec{kind: "statefulset", pods: "StatefulSet", selector: s.Spec.Selector, template: template}.check()...)
}

// withClaims are the volumes that pods of a set will have: those of its claims first.
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

// checkStatefulSetChange: little of a set can change.
func checkStatefulSetChange(s, old *appsv1.StatefulSet) field.ErrorList {
	kept := old.Spec.DeepCopy()
	kept.Replicas, kept.Ordinals, kept.Template, kept.UpdateStrategy = s.Spec.Replicas, s.Spec.Ordinals, s.Spec.Template, s.Spec.UpdateStrategy
	kept.RevisionHistoryLimit, kept.MinReadySeconds = s.Spec.RevisionHistoryLimit, s.Spec.MinReadySeconds
	kept.PersistentVolumeClaimRetentionPolicy = s.Spec.PersistentVolumeClaimRetentionPolicy
	if equality.Semantic.DeepEqual(kept, &s.Spec) {
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
