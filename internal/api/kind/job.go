package kind

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "batch", Version: "v1", Name: "Job",
		Categories: []string{"all"},
		traits:     withStatus | withGeneration, rules: jobRules,
	})
}

var jobRules = rules{
	fill:  func(obj store.Object) { fillJob(&obj.(*batchv1.Job).Spec) },
	admit: func(_ admission, obj store.Object) error { selectOwnPods(obj.(*batchv1.Job)); return nil },
	validate: func(obj store.Object) field.ErrorList {
		return checkJob(&obj.(*batchv1.Job).Spec, field.NewPath("spec"))
	},
	validateUpdate: func(obj, old store.Object) field.ErrorList {
		spec, was := &obj.(*batchv1.Job).Spec, &old.(*batchv1.Job).Spec
		return append(checkJob(spec, field.NewPath("spec")), fixed(spec.Selector, was.Selector)...)
	},
}

func fillJob(spec *batchv1.JobSpec) {
	if spec.Completions == nil && spec.Parallelism == nil {
		setDefault(&spec.Completions, 1)
	}
	setDefault(&spec.Parallelism, 1)
	setDefault(&spec.BackoffLimit, 6)
	setDefault(&spec.CompletionMode, batchv1.NonIndexedCompletion)
	setDefault(&spec.Suspend, false)
	setDefault(&spec.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	fillPodSpec(&spec.Template.Spec)
}

// selectOwnPods gives the pods of a job labels that only they have, and selects them by
// those, unless the user selects them.
func selectOwnPods(job *batchv1.Job) {
	if job.Spec.ManualSelector != nil && *job.Spec.ManualSelector {
		return
	}
	for label, value := range map[string]string{ // any order: each for itself
		batchv1.ControllerUidLabel: string(job.UID), batchv1.JobNameLabel: job.Name,
		"controller-uid": string(job.UID), "job-name": job.Name,
	} {
		if job.Spec.Template.Labels == nil {
			job.Spec.Template.Labels = map[string]string{}
		}
		job.Spec.Template.Labels[label] = value
	}
	if job.Spec.Selector == nil {
		job.Spec.Selector = &metav1.LabelSelector{}
	}
	metav1.AddLabelToSelector(job.Spec.Selector, batchv1.ControllerUidLabel, string(job.UID))
}

func checkJob(spec *batchv1.JobSpec, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, number := range []struct {
		name  string
		value *int32
	}{{"parallelism", spec.Parallelism}, {"completions", spec.Completions}, {"backoffLimit", spec.BackoffLimit}} {
		if number.value != nil {
			errs = append(errs, natural(at.Child(number.name), int64(*number.value))...)
		}
	}
	return append(errs, checkEndingPods(&spec.Template.Spec, at.Child("template", "spec"))...)
}

// checkEndingPods checks a template of pods that come to an end.
func checkEndingPods(spec *corev1.PodSpec, at *field.Path) field.ErrorList {
	errs := checkPodSpec(spec, "", at)
	switch spec.RestartPolicy {
	case corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever:
	case corev1.RestartPolicyAlways:
		errs = append(errs, field.Required(at.Child("restartPolicy"), `valid values: "OnFailure", "Never"`))
	default:
		errs = append(errs, field.NotSupported(at.Child("restartPolicy"), spec.RestartPolicy, []corev1.RestartPolicy{corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever}))
	}
	return errs
}
