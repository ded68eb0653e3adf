package ttlafterfinished_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/fakecontroller/internal/ttlafterfinished"
	"github.com/csisim/csisim/internal/world/version"
)

// Versions with the gate off keep finished jobs. C-TTL-1
func TestOldVersionsLeaveFinishedJobs(t *testing.T) {
	for v, want := range map[version.Version]bool{version.JobTTL.Before(): false, version.JobTTL.Before() + 1: true} {
		c := testcluster.New(t, nil, mock.Options{})
		c.World.Version = v
		ttlafterfinished.Start(c.World)
		finished(c, "done", new(int32(1)), true)
		c.Run(time.Minute)
		assert.Equal(t, want, testcluster.Get[*batchv1.Job](c, "default", "done").DeletionTimestamp != nil, v.String())
	}
}

// finished makes a job, with or without a finish time.
func finished(c *testcluster.Cluster, name string, ttl *int32, finishes bool) {
	j := testcluster.Create(c, &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{TTLSecondsAfterFinished: ttl, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	})
	if !finishes {
		return
	}
	now := metav1.NewTime(c.Kernel.Now())
	testcluster.ChangeStatus(c, j, func(j *batchv1.Job) {
		j.Status.StartTime = &now
		j.Status.Conditions = []batchv1.JobCondition{
			{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: now},
		}
	})
}

// A job is deleted the given number of seconds after its end, its dependents first. A running job,
// and a job without the field, stay. C-TTL-1
func TestAFinishedJobIsDeletedWhenItsTimeIsOver(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	ttlafterfinished.Start(c.World)
	exists := func(name string) bool { return testcluster.Exists[*batchv1.Job](c, "default", name) }
	finished(c, "done", new(int32(30)), true)
	finished(c, "at-once", new(int32(0)), true)
	finished(c, "runs", new(int32(1)), false)
	finished(c, "stays", nil, true)
	c.Run(29 * time.Second)
	assert.True(t, exists("done"))
	deleted := func(name string) bool {
		return testcluster.Get[*batchv1.Job](c, "default", name).DeletionTimestamp != nil
	}
	assert.True(t, deleted("at-once"))
	c.Run(2 * time.Second)
	assert.True(t, deleted("done"))
	assert.Equal(t, []string{metav1.FinalizerDeleteDependents}, testcluster.Get[*batchv1.Job](c, "default", "done").Finalizers)
	c.Run(time.Hour)
	assert.False(t, deleted("runs"))
	assert.False(t, deleted("stays"))
}
