// Package cronjob is the CronJob controller of the kube-controller-manager. It creates jobs from a
// template at the times of a schedule, and deletes old jobs. (kubernetes v1.36.3,
// pkg/controller/cronjob)
package cronjob

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

var kind = batchv1.SchemeGroupVersion.WithKind("CronJob")

type cronJob = *batchv1.CronJob

// Controller is a running CronJob controller.
type Controller struct {
	*component.Component
	queue *workqueue.Queue[store.Key]
}

// Start runs the CronJob controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("cronjob-controller", "")}
	c.queue = workqueue.New("cron jobs", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		First: "the first cron job", News: "changes of cron jobs and their jobs",
		Sources: []component.Source{
			component.On(func(e store.Event[cronJob]) { c.queue.Add(store.KeyOf(e.Object)) }),
			component.On(func(e store.Event[*batchv1.Job]) {
				if of, _, ok := workload.Owner(e.Object, kind.Kind); ok {
					c.queue.Add(of)
				}
			}),
		},
	})
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	cached, ok := component.Cached[cronJob](c.Component, key)
	if !ok {
		return nil
	}
	of := cached.DeepCopy()
	jobs := c.jobsOf(of)
	c.noteEnds(of, jobs)
	if err := c.forget(p, of); err != nil {
		return err
	}
	err := c.start(p, of)
	if !equality.Semantic.DeepEqual(cached.Status, of.Status) {
		if _, err := component.UpdateStatus(p, c.Component, of); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	return c.cleanUp(p, of, jobs)
}

func (c *Controller) jobsOf(of cronJob) []*batchv1.Job {
	var jobs []*batchv1.Job
	for job := range store.Indexed[*batchv1.Job](c.Cache, store.OwnerUID, string(of.UID)) {
		jobs = append(jobs, job)
	}
	return jobs
}

// noteEnds removes ended jobs from the list of running ones.
func (c *Controller) noteEnds(of cronJob, jobs []*batchv1.Job) {
	for _, job := range jobs {
		how, ended := finished(job)
		switch {
		case !ended && !isActive(of, job.Name):
			c.Event(of, corev1.EventTypeWarning, "UnexpectedJob", "Saw a job that the controller did not create or forgot: %s", job.Name)
		case ended && isActive(of, job.Name):
			drop(of, job.UID)
			c.Event(of, corev1.EventTypeNormal, "SawCompletedJob", "Saw completed job: %s, condition: %v", job.Name, how)
		}
		last := of.Status.LastSuccessfulTime
		if how == batchv1.JobComplete && job.Status.CompletionTime != nil && (last == nil || last.Before(job.Status.CompletionTime)) {
			of.Status.LastSuccessfulTime = job.Status.CompletionTime
		}
	}
}

func drop(of cronJob, uid types.UID) {
	of.Status.Active = slices.DeleteFunc(of.Status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == uid })
}

// forget removes deleted jobs from the list of running ones.
func (c *Controller) forget(p *kernel.Process, of cronJob) error {
	for _, ref := range slices.Clone(of.Status.Active) {
		key := store.Key{Namespace: ref.Namespace, Name: ref.Name}
		if _, ok := component.Cached[*batchv1.Job](c.Component, key); ok {
			continue
		}
		_, there, err := live(p, c, key)
		if err != nil {
			return err
		}
		if !there {
			c.Event(of, corev1.EventTypeNormal, "MissingJob", "Active job went missing: %v", ref.Name)
			drop(of, ref.UID)
		}
	}
	return nil
}
