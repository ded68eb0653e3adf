package sim_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A Job that is deleted without a policy leaves its pods behind; kubectl requests Background.
// C-JOB-2, C-JOB-3 [pkg/registry/batch/job/strategy.go DefaultGarbageCollectionPolicy]
func TestAJobThatIsDeletedWithoutAPolicyLeavesItsPods(t *testing.T) {
	background := metav1.DeletePropagationBackground
	for _, policy := range []*metav1.DeletionPropagation{nil, &background} {
		c := mockCluster(t)
		client, ctx := c.Client(), t.Context()
		_, err := client.BatchV1().Jobs("default").Create(ctx, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "backup"},
			Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, c.Advance(5*time.Second))
		require.NoError(t, client.BatchV1().Jobs("default").Delete(ctx, "backup", metav1.DeleteOptions{PropagationPolicy: policy}))
		require.NoError(t, c.Advance(time.Minute))
		jobs, err := client.BatchV1().Jobs("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		assert.Empty(t, jobs.Items)
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{})
		require.NoError(t, err)
		if policy != nil {
			assert.Empty(t, pods.Items)
		} else if assert.Len(t, pods.Items, 1) {
			assert.Empty(t, pods.Items[0].OwnerReferences)
			assert.Empty(t, pods.Items[0].Finalizers)
		}
	}
}
