package job

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

func newJob(change func(*batchv1.JobSpec)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup"},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	}
	if change != nil {
		change(&j.Spec)
	}
	return j
}

// running returns the pods that have not ended, after some time.
func running(c *testcluster.Cluster, after time.Duration) (pods []*corev1.Pod) {
	c.Run(after)
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		if pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodPending {
			pods = append(pods, pod)
		}
	}
	return pods
}

func end(c *testcluster.Cluster, pod *corev1.Pod, phase corev1.PodPhase) {
	testcluster.ChangeStatus(c, pod, func(pod *corev1.Pod) {
		pod.Status.Phase = phase
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(c.Kernel.Now())}},
		}}
	})
}

func status(c *testcluster.Cluster) batchv1.JobStatus {
	return testcluster.Get[*batchv1.Job](c, "default", "backup").Status
}

func conditions(c *testcluster.Cluster) (all []string) {
	for _, condition := range status(c).Conditions {
		all = append(all, string(condition.Type)+"="+string(condition.Status)+" "+condition.Reason)
	}
	return all
}

func TestAJobIsCompleteWhenEnoughPodsHaveSucceeded(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	made := testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.Completions, spec.Parallelism = new(int32(3)), new(int32(2)) }))
	pods := running(c, time.Second)
	require.Len(t, pods, 2, "as many at once as it asks for")
	assert.Equal(t, string(made.UID), pods[0].Labels[batchv1.ControllerUidLabel])
	assert.Equal(t, "backup", pods[0].Labels[batchv1.JobNameLabel])
	assert.Equal(t, []string{batchv1.JobTrackingFinalizer}, pods[0].Finalizers)

	end(c, pods[0], corev1.PodSucceeded)
	end(c, pods[1], corev1.PodSucceeded)
	pods = running(c, 2*time.Second)
	require.Len(t, pods, 1, "one more is enough")
	assert.Equal(t, int32(2), status(c).Succeeded)

	end(c, pods[0], corev1.PodSucceeded)
	assert.Empty(t, running(c, 2*time.Second))
	assert.Equal(t, []string{"SuccessCriteriaMet=True CompletionsReached", "Complete=True CompletionsReached"}, conditions(c))
	assert.NotNil(t, status(c).CompletionTime)
	assert.Equal(t, int32(3), status(c).Succeeded)
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		assert.Empty(t, pod.Finalizers, "it is counted")
	}
}

func TestAFailedPodIsReplacedWithBackoffUpToALimit(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.BackoffLimit = new(int32(2)) }))
	for _, backoff := range []time.Duration{10 * time.Second, 20 * time.Second} {
		pods := running(c, time.Second)
		require.Len(t, pods, 1)
		end(c, pods[0], corev1.PodFailed)
		assert.Empty(t, running(c, backoff-2*time.Second), "not before %v", backoff)
		c.Run(2 * time.Second)
	}
	pods := running(c, time.Second)
	require.Len(t, pods, 1)
	end(c, pods[0], corev1.PodFailed)
	assert.Empty(t, running(c, time.Hour))
	assert.Equal(t, []string{"FailureTarget=True BackoffLimitExceeded", "Failed=True BackoffLimitExceeded"}, conditions(c))
	assert.Equal(t, int32(3), status(c).Failed)
}

func TestAJobThatRunsTooLongFails(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.ActiveDeadlineSeconds = new(int64(30)) }))
	require.Len(t, running(c, 29*time.Second), 1)
	c.Run(2 * time.Second)
	for pod := range store.List[*corev1.Pod](c.Store, "default") {
		assert.NotNil(t, pod.DeletionTimestamp)
	}
	assert.Equal(t, []string{"FailureTarget=True DeadlineExceeded"}, conditions(c), "its pod has not ended")
}

func TestASuspendedJobRunsNothing(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.Suspend = new(true) }))
	assert.Empty(t, running(c, time.Minute))
	assert.Equal(t, []string{"Suspended=True JobSuspended"}, conditions(c))
	testcluster.Change(c, testcluster.Get[*batchv1.Job](c, "default", "backup"), func(j *batchv1.Job) { j.Spec.Suspend = new(false) })
	assert.Len(t, running(c, time.Second), 1)
	assert.Equal(t, []string{"Suspended=False JobResumed"}, conditions(c))
}

// With caches of any age and crashes at any moment, no pod is counted twice, and none is lost.
func TestEachPodIsCountedOnce(t *testing.T) {
	for seed := range uint64(30) {
		c := testcluster.New(t, kernel.NewRandom(seed+1), mock.Options{})
		controller := Start(c.World)
		testcluster.Create(c, newJob(func(spec *batchv1.JobSpec) { spec.Completions, spec.Parallelism = new(int32(4)), new(int32(2)) }))
		for range 10 {
			for _, pod := range running(c, time.Second) {
				end(c, pod, corev1.PodSucceeded)
			}
			c.Run(time.Duration(seed*37) * time.Millisecond)
			controller.Crash()
			controller = Start(c.World)
		}
		c.Run(time.Minute)
		assert.Equal(t, int32(4), status(c).Succeeded, "seed %d", seed+1)
		count := 0
		for range store.List[*corev1.Pod](c.Store, "default") {
			count++
		}
		assert.Equal(t, 4, count, "seed %d", seed+1)
	}
}
