// Package job is the Job controller of the kube-controller-manager. It runs pods from a template
// until enough of them have succeeded, or too many have failed. (kubernetes v1.36.3,
// pkg/controller/job)
package job

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

var kind = batchv1.SchemeGroupVersion.WithKind("Job")

// batchPeriod is the time for which changes of pods are gathered before a job is processed.
const batchPeriod = time.Second

type job = *batchv1.Job

// Controller is a running Job controller.
type Controller struct {
	*component.Component
	jobs     *workqueue.Queue[store.Key]
	orphans  *workqueue.Queue[store.Key] // pods of a deleted job
	expected *workload.Expectations
	failures failures
}

// Start runs the Job controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("job-controller", ""), expected: workload.NewExpectations(), failures: failures{}}
	c.jobs = workqueue.New("jobs", workqueue.Workers(5), c.Go, c.sync)
	c.orphans = workqueue.New("orphans", workqueue.Workers(1), c.Go, c.releaseOrphan)
	c.Inform(component.Informers{
		First: "the first job", News: "changes of jobs and their pods",
		Sources: []component.Source{component.On(c.jobChanged), component.On(c.podChanged)},
	})
	return c
}

func (c *Controller) jobChanged(e store.Event[job]) {
	c.jobs.Add(store.KeyOf(e.Object))
	if e.Type != store.Deleted {
		return
	}
	c.expected.Forget(e.Object.UID)
	delete(c.failures, e.Object.UID)
	for pod := range store.Indexed[*corev1.Pod](c.Cache, store.OwnerUID, string(e.Object.UID)) {
		c.orphans.Add(store.KeyOf(pod))
	}
}

func (c *Controller) podChanged(e store.Event[*corev1.Pod]) {
	if of, uid, ok := workload.Owner(e.Object, kind.Kind); ok {
		c.expected.Saw(uid, e.Object, e.Type == store.Deleted)
		c.jobs.AddAfter(of, batchPeriod)
	}
	if e.Type != store.Deleted && isTracked(e.Object) && c.jobOf(e.Object) == nil {
		c.orphans.Add(store.KeyOf(e.Object))
	}
}

// jobOf returns the job of a pod; nil if it has no job or the job was deleted.
func (c *Controller) jobOf(pod *corev1.Pod) job {
	of, uid, ok := workload.Owner(pod, kind.Kind)
	if !ok {
		return nil
	}
	j, ok := component.Cached[job](c.Component, of)
	if !ok || j.UID != uid {
		return nil
	}
	return j
}

func isTracked(pod *corev1.Pod) bool {
	return slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer)
}

// releaseOrphan removes the finalizer from a pod without a job. C-JOB-3
func (c *Controller) releaseOrphan(p *kernel.Process, key store.Key) error {
	pod, ok := component.Cached[*corev1.Pod](c.Component, key)
	if !ok || !isTracked(pod) || c.jobOf(pod) != nil {
		return nil
	}
	return c.untrack(p, pod)
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	j, ok := component.Cached[job](c.Component, key)
	if !ok || finished(j) || j.Spec.ManagedBy != nil && *j.Spec.ManagedBy != batchv1.JobControllerName {
		return nil
	}
	r := c.look(j.DeepCopy())
	if !c.expected.Met(j.UID) {
		return nil // the cache will deliver its pods, which queues the job again
	}
	if err := c.act(p, r); err != nil {
		return err
	}
	return c.account(p, r)
}

func finished(j job) bool {
	return holds(j, batchv1.JobComplete) || holds(j, batchv1.JobFailed)
}

func holds(j job, kind batchv1.JobConditionType) bool { return held(j, kind) != nil }

// held returns the condition of a job if its status is True.
func held(j job, kind batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range j.Status.Conditions {
		if c := &j.Status.Conditions[i]; c.Type == kind && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}
