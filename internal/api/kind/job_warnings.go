package kind

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// podNameWarning is about the name of what names pods after itself.
func podNameWarning(name string) []string {
	if wrong := utilvalidation.IsDNS1123Label(name); len(wrong) > 0 {
		return []string{fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", wrong)}
	}
	return nil
}

func jobWarnings(at *field.Path, spec *batchv1.JobSpec) (texts []string) {
	if isIndexed(spec) && spec.Completions != nil && *spec.Completions > manyCompletions && *spec.Parallelism > maxParallelOfMany {
		texts = append(texts, fmt.Sprintf("%s: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "+
			"Kubernetes might not be able to track completedIndexes when a big number of indexes fail", at))
	}
	return append(texts, podWarnings(at.Child("template"), &spec.Template.Spec)...)
}

// changedJobWarnings are those of an update, which speaks of a spec only if it changes.
func changedJobWarnings(at *field.Path, obj store.Object, generation int64, spec *batchv1.JobSpec) []string {
	if obj.GetGeneration() == generation {
		return nil
	}
	return jobWarnings(at, spec)
}
