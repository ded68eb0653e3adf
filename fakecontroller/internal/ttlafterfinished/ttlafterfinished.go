// Package ttlafterfinished is the TTL-after-finished controller of the kube-controller-manager. It
// deletes finished jobs after their TTL. (kubernetes v1.36.3, pkg/controller/ttlafterfinished)
package ttlafterfinished

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Controller is a running TTL-after-finished controller.
type Controller struct {
	*component.Component
	jobs *workqueue.Queue[store.Key]
}

// Start runs the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("ttl-after-finished-controller", "")}
	c.jobs = workqueue.New("jobs", workqueue.Workers(5), c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of jobs",
		Sources: []component.Source{component.On(func(e store.Event[*batchv1.Job]) {
			if _, finished := expiry(e.Object); finished && e.Type != store.Deleted {
				c.jobs.Add(store.KeyOf(e.Object))
			}
		})},
	})
	return c
}

// sync deletes a job after its TTL has expired, its pods first. C-TTL-1
func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	j, ok := component.Cached[*batchv1.Job](c.Component, key)
	if !ok || !c.Version.Has(version.JobTTL) {
		return nil
	}
	if left, finished := c.timeLeft(j); !finished || left > 0 {
		c.lookAgain(key, left, finished)
		return nil
	}
	p.Yield("get job")
	fresh, ok := store.Get[*batchv1.Job](c.Store, key)
	if !ok {
		return nil
	}
	if left, finished := c.timeLeft(fresh); !finished || left > 0 {
		c.lookAgain(key, left, finished)
		return nil
	}
	_, err := component.Delete[*batchv1.Job](p, c.Component, key,
		store.Propagation(metav1.DeletePropagationForeground), store.PreconditionUID(fresh.UID))
	return err
}

func (c *Controller) lookAgain(key store.Key, left time.Duration, finished bool) {
	if finished {
		c.jobs.AddAfter(key, left)
	}
}

func (c *Controller) timeLeft(j *batchv1.Job) (left time.Duration, finished bool) {
	at, finished := expiry(j)
	return at.Sub(c.Kernel.Now()), finished
}

// expiry returns the time at which a job has to be deleted. It is false for a job without a TTL, an
// unfinished job, and a job that is being deleted.
func expiry(j *batchv1.Job) (at time.Time, ok bool) {
	if j.Spec.TTLSecondsAfterFinished == nil || j.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	for _, condition := range j.Status.Conditions {
		if (condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed) && condition.Status == corev1.ConditionTrue {
			return condition.LastTransitionTime.Add(time.Duration(*j.Spec.TTLSecondsAfterFinished) * time.Second), true
		}
	}
	return time.Time{}, false
}
