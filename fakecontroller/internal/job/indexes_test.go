package job

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
)

func TestIndexesAreWrittenAsRanges(t *testing.T) { // C-JOB-1
	for _, text := range []string{"", "0", "0,1", "1,3-5,7", "0-9"} {
		assert.Equal(t, text, parseIndexes(text, 10).String())
	}
	assert.Equal(t, "0-4", parseIndexes("0-9", 5).String(), "a job can have become smaller")
}

// Each index gets one pod. A failed pod is replaced by a pod with the same index, and the job is
// complete when all indexes have succeeded. C-JOB-1
func TestAnIndexedJobRunsAPodForEachNumber(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.CompletionMode = new(batchv1.IndexedCompletion)
		spec.Completions, spec.Parallelism = new(int32(3)), new(int32(2))
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 2)
	assert.Regexp(t, "^backup-0-.....$", pods[0].Name)
	assert.Equal(t, "backup-1", pods[1].Spec.Hostname)
	assert.Equal(t, "1", pods[1].Labels[batchv1.JobCompletionIndexAnnotation])
	assert.Equal(t, corev1.EnvVar{Name: "JOB_COMPLETION_INDEX", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
		APIVersion: "v1", FieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}, pods[1].Spec.Containers[0].Env[0])

	end(c, pods[1], corev1.PodSucceeded)
	pods = running(c, 3*time.Second)
	require.Len(t, pods, 2)
	assert.Equal(t, "1", status(c).CompletedIndexes)
	assert.Regexp(t, "^backup-2-", pods[1].Name)

	end(c, pods[0], corev1.PodFailed)
	end(c, pods[1], corev1.PodSucceeded)
	pods = running(c, 15*time.Second)
	require.Len(t, pods, 1)
	assert.Regexp(t, "^backup-0-", pods[0].Name, "the number that failed")
	assert.Equal(t, "1,2", status(c).CompletedIndexes)
	end(c, pods[0], corev1.PodSucceeded)
	c.Run(3 * time.Second)
	assert.Equal(t, "0-2", status(c).CompletedIndexes)
	assert.Equal(t, []int32{3, 1}, []int32{status(c).Succeeded, status(c).Failed})
	assert.Equal(t, []string{"SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"}, conditions(c))
}

// Given a job with two attempts per index, when an index fails twice, then the others continue, and
// the job fails when they have succeeded. C-JOB-4
func TestAnIndexThatFailsPermanentlyLeavesTheOthersAlone(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.CompletionMode, spec.BackoffLimitPerIndex = new(batchv1.IndexedCompletion), new(int32(1))
		spec.Completions, spec.Parallelism = new(int32(2)), new(int32(2))
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 2)
	assert.Equal(t, "0", pods[0].Annotations[batchv1.JobIndexFailureCountAnnotation])

	end(c, pods[0], corev1.PodFailed)
	assert.Len(t, running(c, 5*time.Second), 1, "its successor waits")
	assert.Equal(t, []types.UID{pods[0].UID}, status(c).UncountedTerminatedPods.Failed, "a failed pod waits for its successor")
	again := running(c, 10*time.Second)
	require.Len(t, again, 2)
	successor := slices.IndexFunc(again, func(pod *corev1.Pod) bool { return pod.Annotations[batchv1.JobIndexFailureCountAnnotation] == "1" })
	require.GreaterOrEqual(t, successor, 0)
	c.Run(3 * time.Second)
	assert.Equal(t, int32(1), status(c).Failed)

	end(c, again[successor], corev1.PodFailed)
	c.Run(time.Minute)
	assert.Equal(t, "0", *status(c).FailedIndexes)
	assert.Empty(t, conditions(c), "the other number goes on")
	end(c, pods[1], corev1.PodSucceeded)
	c.Run(5 * time.Second)
	assert.Equal(t, "1", status(c).CompletedIndexes)
	assert.Equal(t, []int32{1, 2}, []int32{status(c).Succeeded, status(c).Failed})
	assert.Equal(t, []string{"FailureTarget=True FailedIndexes", "Failed=True FailedIndexes"}, conditions(c))
}

// Given a limit of failed indexes, when it is exceeded, then the job fails at once. C-JOB-4
func TestTooManyFailedNumbersEndAJob(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) {
		spec.CompletionMode, spec.BackoffLimitPerIndex, spec.MaxFailedIndexes = new(batchv1.IndexedCompletion), new(int32(0)), new(int32(0))
		spec.Completions, spec.Parallelism = new(int32(3)), new(int32(3))
	}))
	pods := running(c, time.Second)
	require.Len(t, pods, 3)
	end(c, pods[1], corev1.PodFailed)
	assert.Empty(t, running(c, 5*time.Second), "the others are deleted")
	assert.Equal(t, "1", *status(c).FailedIndexes)
	assert.Contains(t, conditions(c), "FailureTarget=True MaxFailedIndexesExceeded")
}
