package kind

import (
	"fmt"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limits of indexed jobs. Jobs with very many completions have another limit if they count failures
// by index.
const (
	maxIndexedParallelism = 100_000
	maxFailedIndexes      = 100_000
	manyCompletions       = 100_000
	maxParallelOfMany     = 10_000
	maxFailedOfMany       = 10_000
)

func completionMode(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	if spec.CompletionMode == nil {
		return onlyIndexed(spec, at)
	}
	switch *spec.CompletionMode {
	case batchv1.IndexedCompletion:
		return indexedCompletion(spec, at)
	case batchv1.NonIndexedCompletion:
		return onlyIndexed(spec, at)
	}
	return field.ErrorList{field.NotSupported(at.Child("completionMode"), spec.CompletionMode,
		[]batchv1.CompletionMode{batchv1.NonIndexedCompletion, batchv1.IndexedCompletion})}
}

// onlyIndexed rejects fields that only indexed jobs may have.
func onlyIndexed(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	if n := spec.BackoffLimitPerIndex; n != nil {
		errs = append(errs, field.Invalid(at.Child("backoffLimitPerIndex"), *n, "requires indexed completion mode"))
	}
	if n := spec.MaxFailedIndexes; n != nil {
		errs = append(errs, field.Invalid(at.Child("maxFailedIndexes"), *n, "requires indexed completion mode"))
	}
	return errs
}

func indexedCompletion(spec *batchv1.JobSpec, at *field.Path) (errs field.ErrorList) {
	atMost := func(name string, n *int32, limit int32, rule string) {
		if n != nil && *n > limit {
			errs = append(errs, field.Invalid(at.Child(name), *n, "must be less than or equal to "+rule))
		}
	}
	completions, failed := spec.Completions, spec.MaxFailedIndexes
	if completions == nil {
		errs = append(errs, field.Required(at.Child("completions"), "when completion mode is Indexed"))
	}
	atMost("parallelism", spec.Parallelism, maxIndexedParallelism, fmt.Sprintf("%d when completion mode is Indexed", maxIndexedParallelism))
	if completions != nil {
		atMost("maxFailedIndexes", failed, *completions, "completions")
	}
	atMost("maxFailedIndexes", failed, maxFailedIndexes, strconv.Itoa(maxFailedIndexes))
	if completions == nil || *completions <= manyCompletions || spec.BackoffLimitPerIndex == nil {
		return errs
	}
	if failed == nil {
		errs = append(errs, field.Required(at.Child("maxFailedIndexes"), fmt.Sprintf("must be specified when completions is above %d", manyCompletions)))
	}
	const ofMany = "%d when completions are above %d and used with backoff limit per index"
	atMost("parallelism", spec.Parallelism, maxParallelOfMany, fmt.Sprintf(ofMany, maxParallelOfMany, manyCompletions))
	atMost("maxFailedIndexes", failed, maxFailedOfMany, fmt.Sprintf(ofMany, maxFailedOfMany, manyCompletions))
	return errs
}

// interval is a range of indexes of a job, both ends included.
type interval struct{ from, to int32 }

// parseIndexes parses indexes of a job as in "1,3-5", which must increase and be less than its
// completions.
func parseIndexes(text string, completions int32) (total int32, err error) {
	if text == "" {
		return 0, nil
	}
	last := int32(-1)
	for i, part := range strings.Split(text, ",") {
		next, err := parseInterval(part, completions)
		if err != nil {
			return 0, err
		}
		if i > 0 && last >= next.from {
			return 0, notRising(last, next.from)
		}
		total += next.to - next.from + 1
		last = next.to
	}
	return total, nil
}

func parseInterval(text string, completions int32) (interval, error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return interval{}, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	var numbers []int32
	for _, end := range ends {
		n, err := strconv.Atoi(end)
		if err != nil {
			return interval{}, fmt.Errorf("cannot convert string to integer for index: %q", end)
		}
		if n >= int(completions) {
			return interval{}, fmt.Errorf("too large index: %q", end)
		}
		numbers = append(numbers, int32(n))
	}
	from, to := numbers[0], numbers[len(numbers)-1]
	if len(numbers) == 2 && from >= to {
		return interval{}, notRising(from, to)
	}
	return interval{from, to}, nil
}

func notRising(before, after int32) error {
	return fmt.Errorf("non-increasing order, previous: %d, current: %d", before, after)
}

// overlap returns an error for an index that is in both lists. Invalid intervals are reported
// elsewhere.
func overlap(completed, failed string, completions int32) error {
	done, lost := intervals(completed, completions), intervals(failed, completions)
	for len(done) > 0 && len(lost) > 0 {
		d, l := done[0], lost[0]
		switch {
		case d.from <= l.to && l.from <= d.to:
			return fmt.Errorf("failedIndexes and completedIndexes overlap at index: %d", max(d.from, l.from))
		case d.from <= l.from:
			done = done[1:]
		default:
			lost = lost[1:]
		}
	}
	return nil
}

func intervals(text string, completions int32) (all []interval) {
	for _, part := range strings.Split(text, ",") {
		if i, err := parseInterval(part, completions); err == nil {
			all = append(all, i)
		}
	}
	return all
}
