package store

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// workload is what kinds that make pods of a template have in common.
type workload struct {
	kind     string // as its own messages name it: deployment
	pods     string // the kind that messages about its template name: ReplicaSet
	selector *metav1.LabelSelector
	template *corev1.PodTemplateSpec
	// mayLackSelector: what lacks one is told by its template alone.
	mayLackSelector bool
}

// check names the mistakes of the selector and of the template.
func (w workload) check() field.ErrorList {
	at := field.NewPath("spec")
	var errs field.ErrorList
	if w.selector == nil && !w.mayLackSelector {
		errs = append(errs, field.Required(at.Child("selector"), ""))
	}
	errs = append(errs, metavalidation.ValidateLabelSelector(w.selector, metavalidation.LabelSelectorValidationOptions{}, at.Child("selector"))...)
	empty := w.selector != nil && len(w.selector.MatchLabels)+len(w.selector.MatchExpressions) == 0
	emptyMistake := field.Invalid(at.Child("selector"), w.selector, "empty selector is invalid for "+w.kind)
	if empty && !w.mayLackSelector {
		errs = append(errs, emptyMistake)
	}
	selector, err := metav1.LabelSelectorAsSelector(w.selector)
	switch {
	case err != nil && w.kind == "statefulset":
		return append(errs, field.Invalid(at.Child("selector"), w.selector, ""))
	case err != nil && !w.mayLackSelector:
		return append(errs, field.Invalid(at.Child("selector"), w.selector, "invalid label selector"))
	case err == nil && !selector.Empty() && !selector.Matches(labels.Set(w.template.Labels)):
		errs = append(errs, field.Invalid(at.Child("template", "metadata", "labels"), w.template.Labels, "`selector` does not match template `labels`"))
	}
	if empty && w.mayLackSelector {
		errs = append(errs, emptyMistake)
	}
	return append(errs, w.checkTemplate(at.Child("template"))...)
}

func (w workload) checkTemplate(at *field.Path) field.ErrorList {
	errs := metavalidation.ValidateLabels(w.template.Labels, at.Child("labels"))
	errs = append(errs, validation.ValidateAnnotations(w.template.Annotations, at.Child("annotations"))...)
	errs = append(errs, checkPodSpec(&w.template.Spec, "", at.Child("spec"))...)
	if policy := w.template.Spec.RestartPolicy; policy != corev1.RestartPolicyAlways {
		errs = append(errs, field.NotSupported(at.Child("spec", "restartPolicy"), policy, []corev1.RestartPolicy{corev1.RestartPolicyAlways}))
	}
	if w.template.Spec.ActiveDeadlineSeconds != nil {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in "+w.pods+" is not Supported"))
	}
	return errs
}

func checkDeployment(d *appsv1.Deployment) field.ErrorList {
	at := field.NewPath("spec")
	errs := replicas(at.Child("replicas"), *d.Spec.Replicas)
	errs = append(errs, workload{kind: "deployment", pods: "ReplicaSet", selector: d.Spec.Selector, template: &d.Spec.Template}.check()...)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
}

func checkReplicaSet(r *appsv1.ReplicaSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := replicas(at.Child("replicas"), *r.Spec.Replicas)
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(r.Spec.MinReadySeconds))...)
	return append(errs, workload{kind: "deployment", pods: "ReplicaSet", selector: r.Spec.Selector, template: &r.Spec.Template}.check()...)
}

func checkDaemonSet(d *appsv1.DaemonSet) field.ErrorList {
	at := field.NewPath("spec")
	errs := workload{kind: "daemonset", pods: "DaemonSet", selector: d.Spec.Selector, template: &d.Spec.Template, mayLackSelector: true}.check()
	errs = append(errs, natural(at.Child("minReadySeconds"), int64(d.Spec.MinReadySeconds))...)
	return append(errs, natural(at.Child("revisionHistoryLimit"), int64(*d.Spec.RevisionHistoryLimit))...)
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
		errs = append(errs, invalid(at.Child("serviceName"), s.Spec.ServiceName, labelName(s.Spec.ServiceName))...)
	}
	template := s.Spec.Template.DeepCopy()
	template.Spec.Volumes = withClaims(template.Spec.Volumes, s.Spec.VolumeClaimTemplates)
	return append(errs, workload{kind: "statefulset", pods: "StatefulSet", selector: s.Spec.Selector, template: template}.check()...)
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

// fixed checks that a change leaves the selector alone.
func fixed(selector, old *metav1.LabelSelector) field.ErrorList {
	return validation.ValidateImmutableField(selector, old, field.NewPath("spec", "selector"))
}
