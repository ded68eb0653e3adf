package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

// exits ends a pod as failed, with the exit code of its container.
func exits(c *testcluster.Cluster, pod *corev1.Pod, code int32) {
	end(c, pod, corev1.PodFailed)
	testcluster.ChangeStatus(c, testcluster.Get[*corev1.Pod](c, "default", pod.Name), func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses[0].State.Terminated.ExitCode = code
	})
}

func policyOf(action batchv1.PodFailurePolicyAction, code int32) *batchv1.PodFailurePolicy {
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: action, OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{code}},
	}}}
}

// Given a policy with FailJob for an exit code, when a pod exits with it, then the job fails and
// its other pods are deleted. C-JOB-5
func TestAnExitCodeFailsAJob(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.Completions, spec.Parallelism = new(int32(2)), new(int32(2))
		spec.PodFailurePolicy = policyOf(batchv1.PodFailurePolicyActionFailJob, 42)
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 2)
	exits(c, pods[0], 42)
	assert.Empty(t, running(c, 5*time.Second))
	require.Contains(t, conditions(c), "FailureTarget=True PodFailurePolicy")
	assert.Equal(t, "Container c for pod default/"+pods[0].Name+" failed with exit code 42 matching FailJob rule at index 0", status(c).Conditions[0].Message)
}

// Given a policy that ignores disruptions, when a pod is disrupted, then it does not count. C-JOB-5
func TestAnIgnoredFailureDoesNotCount(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.BackoffLimit = new(int32(0))
		spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore, OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}}
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 1)
	testcluster.ChangeStatus(c, pods[0], func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodFailed
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue})
	})
	again := running(c, time.Minute)
	require.Len(t, again, 1, "its successor")
	assert.Zero(t, status(c).Failed)
	assert.Empty(t, testcluster.Get[*corev1.Pod](c, "default", pods[0].Name).Finalizers)
	exits(c, again[0], 1)
	c.Run(5 * time.Second)
	assert.Contains(t, conditions(c), "Failed=True BackoffLimitExceeded", "another failure counts")
}

// Given a policy for indexes, when the pod of an index exits with the code, then the index is not
// retried. C-JOB-5
func TestAnExitCodeFailsANumber(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.CompletionMode, spec.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), new(int32(5))
		spec.Completions, spec.Parallelism = new(int32(2)), new(int32(2))
		spec.PodFailurePolicy = policyOf(batchv1.PodFailurePolicyActionFailIndex, 42)
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 2)
	exits(c, pods[0], 42)
	assert.Len(t, running(c, time.Minute), 1)
	assert.Equal(t, "0", *status(c).FailedIndexes)
	assert.Empty(t, conditions(c), "the other number goes on")
}

// Given a job that replaces only finished pods, when a pod is deleted, then its successor waits for
// its end. C-JOB-5
func TestATerminatingPodKeepsItsPlace(t *testing.T) {
	for policy, want := range map[batchv1.PodReplacementPolicy]int{batchv1.Failed: 0, batchv1.TerminatingOrFailed: 1} {
		c := testcluster.New(t, nil, mock.Options{})
		Start(c.World)
		testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.PodReplacementPolicy = &policy }))
		pods := running(c, time.Second)
		require.Len(t, pods, 1)
		testcluster.ChangeStatus(c, pods[0], func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodRunning })
		testcluster.Delete(c, pods[0])
		assert.Len(t, running(c, 5*time.Second), want, policy)
	}
}

// Given a rule for one index, when that index has succeeded, then the job is complete, and the
// other pods are deleted. C-JOB-6
func TestASuccessPolicyEndsAJob(t *testing.T) {
	for says, rule := range map[string]batchv1.SuccessPolicyRule{
		"a number": {SucceededIndexes: new("1")}, "a count": {SucceededCount: new(int32(1))},
		"a count of numbers": {SucceededIndexes: new("1-2"), SucceededCount: new(int32(1))},
	} {
		t.Run(says, func(t *testing.T) {
			c := testcluster.New(t, nil, mock.Options{})
			Start(c.World)
			testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
				spec.CompletionMode = new(batchv1.IndexedCompletion)
				spec.Completions, spec.Parallelism = new(int32(3)), new(int32(3))
				spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: new("0,2")}, rule}}
			}))
			pods := running(c, time.Second)
			require.Len(t, pods, 3)
			end(c, pods[1], corev1.PodSucceeded)
			assert.Empty(t, running(c, 5*time.Second), "the others are deleted")
			require.Contains(t, conditions(c), "SuccessCriteriaMet=True SuccessPolicy")
			assert.Equal(t, "Matched rules at index 1", status(c).Conditions[0].Message)
		})
	}
}
