package kind

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// nameWarning is about the name of a pod, or of an object that names pods after itself.
func nameWarning(usedIn, name string) []string {
	if wrong := utilvalidation.IsDNS1123Label(name); len(wrong) > 0 {
		return []string{fmt.Sprintf("metadata.name: this is used in %s, which can result in surprising behavior; a DNS label is recommended: %v", usedIn, wrong)}
	}
	return nil
}

const ofItsPods = "Pod names and hostnames"

func jobWarnings(job, old *batchv1.Job) []string {
	at := field.NewPath("spec")
	switch {
	case old == nil:
		return append(nameWarning(ofItsPods, job.Name), jobSpecWarnings(at, &job.Spec)...)
	case old.Generation != job.Generation:
		return jobSpecWarnings(at, &job.Spec)
	}
	return nil
}

func jobSpecWarnings(at *field.Path, spec *batchv1.JobSpec) (texts []string) {
	if isIndexed(spec) && spec.Completions != nil && *spec.Completions > manyCompletions && *spec.Parallelism > maxParallelOfMany {
		texts = append(texts, fmt.Sprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			"Kubernetes might not be able to track completedIndexes when a big number of indexes fail", at))
	}
	return append(texts, podWarnings(at.Child("template"), &spec.Template.Spec)...)
}
