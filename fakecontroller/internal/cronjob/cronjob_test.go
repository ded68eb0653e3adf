package cronjob

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

func newCronJob(change func(*batchv1.CronJobSpec)) *batchv1.CronJob {
	c := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec: batchv1.CronJobSpec{
			Schedule: "*/5 * * * *",
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			}}}},
		},
	}
	change(&c.Spec)
	return c
}

func jobs(c *testcluster.Cluster) (all []*batchv1.Job) {
	for job := range store.List[*batchv1.Job](c.Store, "default") {
		all = append(all, job)
	}
	return all
}

func complete(c *testcluster.Cluster, job *batchv1.Job) {
	testcluster.ChangeStatus(c, job, func(job *batchv1.Job) {
		now := metav1.NewTime(c.Kernel.Now())
		job.Status.StartTime, job.Status.CompletionTime = &now, &now
		job.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue}, {Type: batchv1.JobComplete, Status: corev1.ConditionTrue},
		}
	})
}

func TestAJobStartsAtEachTimeOfTheSchedule(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newCronJob(func(spec *batchv1.CronJobSpec) { spec.SuccessfulJobsHistoryLimit = new(int32(2)) }))
	c.Run(4 * time.Minute)
	assert.Empty(t, jobs(c))
	for i := range 4 {
		c.Run(5 * time.Minute)
		all := jobs(c)
		require.Len(t, all, min(i, 2)+1, "those that are kept, and the new one")
		newest := all[len(all)-1]
		assert.Equal(t, newest.Name, testcluster.Get[*batchv1.CronJob](c, "default", "nightly").Status.Active[0].Name)
		complete(c, newest)
		c.Run(0)
	}
	status := testcluster.Get[*batchv1.CronJob](c, "default", "nightly").Status
	assert.Empty(t, status.Active)
	assert.NotNil(t, status.LastSuccessfulTime)
}

func TestTheConcurrencyPolicyOfARunningJob(t *testing.T) {
	for policy, c := range map[batchv1.ConcurrencyPolicy]struct{ made, active int }{
		batchv1.AllowConcurrent:   {3, 3},
		batchv1.ForbidConcurrent:  {1, 1},
		batchv1.ReplaceConcurrent: {1, 1},
	} {
		t.Run(string(policy), func(t *testing.T) {
			cluster := testcluster.New(t, nil, mock.Options{})
			Start(cluster.World)
			testcluster.Create(cluster, newCronJob(func(spec *batchv1.CronJobSpec) { spec.ConcurrencyPolicy = policy }))
			cluster.Run(16 * time.Minute)
			assert.Len(t, jobs(cluster), c.made)
			assert.Len(t, testcluster.Get[*batchv1.CronJob](cluster, "default", "nightly").Status.Active, c.active)
		})
	}
}

func TestASuspendedCronJobStartsNothing(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World)
	testcluster.Create(c, newCronJob(func(spec *batchv1.CronJobSpec) { spec.Suspend = new(true) }))
	c.Run(time.Hour)
	assert.Empty(t, jobs(c))
}

// A controller that was down starts the latest job that it missed, once.
func TestOnlyTheLatestMissedStartIsCaughtUp(t *testing.T) {
	for seed := range uint64(10) {
		c := testcluster.New(t, kernel.NewRandom(seed+1), mock.Options{})
		Start(c.World).Crash()
		testcluster.Create(c, newCronJob(func(*batchv1.CronJobSpec) {}))
		c.Run(32 * time.Minute)
		Start(c.World)
		c.Run(time.Minute)
		all := jobs(c)
		require.Len(t, all, 1, "seed %d", seed+1)
		assert.Equal(t, "30", all[0].Annotations[batchv1.CronJobScheduledTimestampAnnotation][14:16], "seed %d", seed+1)
	}
}
