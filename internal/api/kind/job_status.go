package kind

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// statusRule is a rule with its field error.
type statusRule struct {
	broken bool
	err    *field.Error
}

func fieldErrors(rules []statusRule) (errs field.ErrorList) {
	for _, r := range rules {
		if r.broken {
			errs = append(errs, r.err)
		}
	}
	return errs
}

// checkJobStatus checks a status that a controller writes. Most rules are checked only for changed
// fields, because the spec may have changed since the status was written.
func checkJobStatus(job, old *batchv1.Job) field.ErrorList {
	errs := jobCounters(&job.Status)
	errs = append(errs, uncountedPods(job.Status.UncountedTerminatedPods)...)
	errs = append(errs, fieldErrors(jobEndRules(job, old))...)
	errs = append(errs, fieldErrors(jobIndexRules(job, old))...)
	errs = append(errs, fieldErrors(jobPodRules(job, old))...)
	return append(errs, fieldErrors(jobTransitionRules(job, old))...)
}

var jobStatusPath = field.NewPath("status")

func jobCounters(status *batchv1.JobStatus) (errs field.ErrorList) {
	for _, counter := range []struct {
		name string
		n    *int32
	}{{"active", &status.Active}, {"succeeded", &status.Succeeded}, {"failed", &status.Failed}, {"ready", status.Ready}, {"terminating", status.Terminating}} {
		if counter.n != nil {
			errs = append(errs, natural(jobStatusPath.Child(counter.name), int64(*counter.n))...)
		}
	}
	return errs
}

func uncountedPods(pods *batchv1.UncountedTerminatedPods) (errs field.ErrorList) {
	if pods == nil {
		return nil
	}
	at, seen := jobStatusPath.Child("uncountedTerminatedPods"), sets.Set[types.UID]{}
	check := func(name string, uids []types.UID) {
		for i, uid := range uids {
			switch at := at.Child(name).Index(i); {
			case uid == "":
				errs = append(errs, field.Invalid(at, uid, "must not be empty"))
			case seen.Has(uid):
				errs = append(errs, field.Duplicate(at, uid))
			default:
				seen.Insert(uid)
			}
		}
	}
	check("succeeded", pods.Succeeded)
	check("failed", pods.Failed)
	return errs
}

func jobFinished(job *batchv1.Job) bool {
	return hasJobCondition(job, batchv1.JobComplete) || hasJobCondition(job, batchv1.JobFailed)
}

func wrongConditions(rule string) *field.Error {
	return field.Invalid(jobStatusPath.Child("conditions"), field.OmitValueType{}, rule)
}

// jobEndRules are about the end of a job.
func jobEndRules(job, old *batchv1.Job) []statusRule {
	now, was := &job.Status, &old.Status
	is := func(kind batchv1.JobConditionType) bool { return hasJobCondition(job, kind) }
	flipped := func(kind batchv1.JobConditionType) bool { return is(kind) != hasJobCondition(old, kind) }
	complete, failed := is(batchv1.JobComplete), is(batchv1.JobFailed)
	completes, fails := flipped(batchv1.JobComplete), flipped(batchv1.JobFailed)
	started, ended := !now.StartTime.Equal(was.StartTime), !now.CompletionTime.Equal(was.CompletionTime)
	finishes := jobFinished(job) != jobFinished(old)
	neverRuns := *job.Spec.Suspend && job.Spec.Completions != nil && *job.Spec.Completions == 0
	at, uncounted := jobStatusPath, now.UncountedTerminatedPods
	return []statusRule{
		{(completes || fails) && complete && failed, wrongConditions("cannot set Complete=True and Failed=true conditions")},
		{(completes || flipped(batchv1.JobFailureTarget)) && complete && is(batchv1.JobFailureTarget),
			wrongConditions("cannot set Complete=True and FailureTarget=true conditions")},
		{(completes || ended) && now.CompletionTime != nil && !complete,
			field.Invalid(at.Child("completionTime"), now.CompletionTime, "cannot set completionTime when there is no Complete=True condition")},
		{(completes || ended) && now.CompletionTime == nil && complete, field.Required(at.Child("completionTime"), "completionTime is required for Complete jobs")},
		{(started || ended) && now.StartTime != nil && now.CompletionTime != nil && now.CompletionTime.Before(now.StartTime),
			field.Invalid(at.Child("completionTime"), now.CompletionTime, "must be equal to or after `startTime`")},
		{(fails || failedIndexesChanged(job, old)) && failed && !is(batchv1.JobFailureTarget),
			wrongConditions("cannot set Failed=True condition without the FailureTarget=true condition")},
		{(completes || flipped(batchv1.JobSuccessCriteriaMet)) && complete && !is(batchv1.JobSuccessCriteriaMet),
			wrongConditions("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")},
		{(finishes || now.Active != was.Active) && now.Active > 0 && jobFinished(job),
			field.Invalid(at.Child("active"), now.Active, "active>0 is invalid for finished job")},
		{(finishes || started) && !neverRuns && now.StartTime == nil && jobFinished(job),
			field.Required(at.Child("startTime"), "startTime is required for finished job")},
		{(finishes || !equality.Semantic.DeepEqual(uncounted, was.UncountedTerminatedPods)) && jobFinished(job) &&
			uncounted != nil && len(uncounted.Failed)+len(uncounted.Succeeded) > 0,
			field.Invalid(at.Child("uncountedTerminatedPods"), goNames{uncounted}, "must be empty for finished job")},
	}
}

func failedIndexesChanged(job, old *batchv1.Job) bool {
	return !equality.Semantic.DeepEqual(job.Status.FailedIndexes, old.Status.FailedIndexes)
}

// jobIndexRules are about the finished indexes.
func jobIndexRules(job, old *batchv1.Job) (rules []statusRule) {
	completed, failed := job.Status.CompletedIndexes, job.Status.FailedIndexes
	completions, perIndex := job.Spec.Completions, job.Spec.BackoffLimitPerIndex != nil
	atCompleted, atFailed := jobStatusPath.Child("completedIndexes"), jobStatusPath.Child("failedIndexes")
	if completed != old.Status.CompletedIndexes && completions != nil {
		_, err := parseIndexes(completed, *completions)
		rules = append(rules, statusRule{err != nil, field.Invalid(atCompleted, completed, fmt.Sprintf("error parsing completedIndexes: %v", err))})
	}
	if failedIndexesChanged(job, old) && completions != nil && perIndex && failed != nil {
		_, err := parseIndexes(*failed, *completions)
		rules = append(rules, statusRule{err != nil, field.Invalid(atFailed, failed, fmt.Sprintf("error parsing failedIndexes: %v", err))})
	}
	rules = append(rules, statusRule{completed != old.Status.CompletedIndexes && completed != "" && !isIndexed(&job.Spec),
		field.Invalid(atCompleted, completed, "cannot set non-empty completedIndexes when non-indexed completion mode")})
	if !failedIndexesChanged(job, old) && completed == old.Status.CompletedIndexes || failed == nil {
		return rules
	}
	rules = append(rules, statusRule{failedIndexesChanged(job, old) && !perIndex,
		field.Invalid(atFailed, *failed, "cannot set non-null failedIndexes when backoffLimitPerIndex is null")})
	if completions != nil {
		err := overlap(completed, *failed, *completions)
		rules = append(rules, statusRule{err != nil, field.Invalid(atFailed, *failed, fmt.Sprint(err))})
	}
	return rules
}

// jobPodRules are about the pods of a job, and about the reasons for the job's end.
func jobPodRules(job, old *batchv1.Job) []statusRule {
	now, was := &job.Status, &old.Status
	is := func(kind batchv1.JobConditionType) bool { return hasJobCondition(job, kind) }
	enough := is(batchv1.JobSuccessCriteriaMet)
	changed := func(a, b *int32) bool { return !equality.Semantic.DeepEqual(a, b) }
	ready := int32(0)
	if now.Ready != nil {
		ready = *now.Ready
	}
	return []statusRule{
		{(jobFinished(job) != jobFinished(old) || changed(now.Terminating, was.Terminating)) && jobFinished(job) && now.Terminating != nil && *now.Terminating > 0,
			field.Invalid(jobStatusPath.Child("terminating"), now.Terminating, "terminating>0 is invalid for finished job")},
		{(changed(now.Ready, was.Ready) || now.Active != was.Active) && now.Ready != nil && ready > now.Active,
			field.Invalid(jobStatusPath.Child("ready"), ready, "cannot set more ready pods than active")},
		{enough && is(batchv1.JobFailed), wrongConditions("cannot set SuccessCriteriaMet=True and Failed=true conditions")},
		{enough && is(batchv1.JobFailureTarget), wrongConditions("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions")},
		{!enough && job.Spec.SuccessPolicy != nil && is(batchv1.JobComplete),
			wrongConditions("cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True")},
	}
}

// jobTransitionRules reject changes that undo a final part of a status.
func jobTransitionRules(job, old *batchv1.Job) (rules []statusRule) {
	now, was, at := &job.Status, &old.Status, jobStatusPath
	for _, end := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete, batchv1.JobFailureTarget} {
		rules = append(rules, statusRule{hasJobCondition(old, end) && !hasJobCondition(job, end), wrongConditions(fmt.Sprintf("cannot disable the terminal %s=True condition", end))})
	}
	shrinks := isIndexed(&job.Spec) && equality.Semantic.DeepEqual(job.Spec.Completions, job.Spec.Parallelism)
	resumes := hasJobCondition(old, batchv1.JobSuspended) && jobConditionIs(job, batchv1.JobSuspended, corev1.ConditionFalse)
	wasEnough, enough := hasJobCondition(old, batchv1.JobSuccessCriteriaMet), hasJobCondition(job, batchv1.JobSuccessCriteriaMet)
	return append(rules,
		statusRule{now.Failed < was.Failed, field.Invalid(at.Child("failed"), now.Failed, "cannot decrease the failed counter")},
		statusRule{!shrinks && now.Succeeded < was.Succeeded, field.Invalid(at.Child("succeeded"), now.Succeeded, "cannot decrease the succeeded counter")},
		statusRule{now.CompletionTime != nil && was.CompletionTime != nil && !now.CompletionTime.Equal(was.CompletionTime),
			field.Invalid(at.Child("completionTime"), now.CompletionTime, "field is immutable")},
		statusRule{was.StartTime != nil && !now.StartTime.Equal(was.StartTime) && !resumes && !*job.Spec.Suspend,
			field.Invalid(at.Child("startTime"), now.StartTime, "field is immutable for unsuspended job once set")},
		statusRule{wasEnough && !enough, wrongConditions("cannot disable the SuccessCriteriaMet=True condition")},
		statusRule{hasJobCondition(old, batchv1.JobComplete) && !wasEnough && enough,
			wrongConditions("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions")},
	)
}
