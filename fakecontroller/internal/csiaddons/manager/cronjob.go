package manager

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// scheduledAt is the annotation of a job with the time for which it was scheduled. A-RS-14
const scheduledAt = "csiaddons.openshift.io/scheduled-at"

// The types of cron jobs and their jobs, of either kind.
type (
	jobObject interface {
		kinds.Object
		Shared() *kinds.Job
	}
	cronObject interface {
		kinds.Object
		Shared() *kinds.CronJob
	}
)

// cronKind is a kind of cron jobs, with the kind of its jobs.
type cronKind struct {
	cron func() cronObject
	job  func() jobObject
	get  func(*component.Component, store.Key) (cronObject, error)
	list func(*component.Component, string) iter.Seq[cronObject]
	jobs func(*component.Component, string) iter.Seq[jobObject]
	// failedFirst is the order in which finished jobs are deleted.
	failedFirst bool
}

var (
	reclaimSpaceCron = cronKind{
		cron: func() cronObject { return &kinds.ReclaimSpaceCronJob{} }, job: func() jobObject { return &kinds.ReclaimSpaceJob{} },
		get:  got[cronObject](kinds.Get[kinds.ReclaimSpaceCronJob]),
		list: listed[cronObject](kinds.List[kinds.ReclaimSpaceCronJob]), jobs: listed[jobObject](kinds.List[kinds.ReclaimSpaceJob]),
	}
	keyRotationCron = cronKind{
		cron: func() cronObject { return &kinds.KeyRotationCronJob{} }, job: func() jobObject { return &kinds.KeyRotationJob{} },
		get:  got[cronObject](kinds.Get[kinds.KeyRotationCronJob]),
		list: listed[cronObject](kinds.List[kinds.KeyRotationCronJob]), jobs: listed[jobObject](kinds.List[kinds.KeyRotationJob]),
		failedFirst: true,
	}
)

// got converts a Get of one kind into a function that returns the fields shared by two kinds.
func got[S, P kinds.Object](get func(*component.Component, store.Key) (P, error)) func(*component.Component, store.Key) (S, error) {
	return func(c *component.Component, key store.Key) (common S, err error) {
		obj, err := get(c, key)
		if err != nil {
			return common, err
		}
		return kinds.Object(obj).(S), nil
	}
}

// listed converts a List in the same way.
func listed[S kinds.Object, P kinds.Object](list func(*component.Component, string) iter.Seq[P]) func(*component.Component, string) iter.Seq[S] {
	return func(c *component.Component, namespace string) iter.Seq[S] {
		return func(yield func(S) bool) {
			for obj := range list(c, namespace) {
				if !yield(kinds.Object(obj).(S)) {
					return
				}
			}
		}
	}
}

// startCron runs the controller of one kind of cron jobs. Any change of a cron job or of its jobs
// queues the cron job. A-RS-11, A-RS-15
func (m *Manager) startCron(name string, kind cronKind) {
	queue := workqueue.New(name, m.backoff(), m.Go, func(p *kernel.Process, key store.Key) error { return m.syncCron(p, kind, key) })
	owner := kind.cron().Of().Kind
	m.follow(name, kind.cron().Of(), func(e store.Event[store.Object]) { queue.Add(store.KeyOf(e.Object)) })
	m.follow("jobs of "+name, kind.job().Of(), func(e store.Event[store.Object]) {
		if of := metav1.GetControllerOf(e.Object); of != nil && of.Kind == owner {
			queue.Add(store.Key{Namespace: e.Object.GetNamespace(), Name: of.Name})
		}
	})
}

// cronPass is one pass of a cron job.
type cronPass struct {
	*Manager
	process *kernel.Process
	kind    cronKind
	object  cronObject
	*kinds.CronJob
	// Its jobs.
	active            jobObject // the last job that has not ended
	succeeded, failed []jobObject
}

// syncCron makes one pass: it records the results of the jobs, deletes old ones, and creates the
// due one.
func (m *Manager) syncCron(p *kernel.Process, kind cronKind, key store.Key) error {
	object, err := kind.get(m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	c := &cronPass{Manager: m, process: p, kind: kind, object: object, CronJob: object.Shared()}
	if c.DeletionTimestamp != nil {
		return nil
	}
	c.review()
	if err := kinds.UpdateStatus(p, m.Component, object); err != nil {
		return err
	}
	c.tidy()
	if c.Spec.Suspend != nil && *c.Spec.Suspend {
		return nil
	}
	missed, next, err := runs(c.CronJob, p.Now(), m.opts.staggerWindow())
	if err != nil { // only a change of the cron job helps. A-RS-12
		return nil //nolint:nilerr // the pass is not retried
	}
	if err := c.begin(missed); err != nil {
		return err
	}
	return every(next.Sub(p.Now()))
}

// review sorts the jobs and derives the status from them. A-RS-11
func (c *cronPass) review() {
	var latest *time.Time
	var succeeded *metav1.Time
	for job := range c.kind.jobs(c.Component, c.Namespace) {
		if !controls(c.object, job) {
			continue
		}
		status := job.Shared().Status
		switch status.Result {
		case "":
			c.active = job
		case "Failed":
			c.failed = append(c.failed, job)
		case "Succeeded":
			c.succeeded = append(c.succeeded, job)
			if at := status.CompletionTime; succeeded == nil || succeeded.Before(at) {
				succeeded = at
			}
		}
		if at, err := time.Parse(time.RFC3339, job.GetAnnotations()[scheduledAt]); err == nil && (latest == nil || latest.Before(at)) {
			latest = &at
		}
	}
	c.Status.Active, c.Status.LastScheduleTime = nil, nil
	if succeeded != nil {
		c.Status.LastSuccessfulTime = succeeded
	}
	if latest != nil {
		c.Status.LastScheduleTime = &metav1.Time{Time: *latest}
	}
	if c.active != nil {
		c.Status.Active = referenceTo(c.active)
	}
}

// controls reports whether owner controls obj. Like indexes of controller-runtime, it compares kind
// and name.
func controls(owner kinds.Object, obj metav1.Object) bool {
	of := metav1.GetControllerOf(obj)
	return of != nil && of.Kind == owner.Of().Kind && of.APIVersion == owner.Of().GroupVersion().String() && of.Name == owner.GetName()
}

func referenceTo(obj kinds.Object) *corev1.ObjectReference {
	version, kind := obj.Of().ToAPIVersionAndKind()
	return &corev1.ObjectReference{
		APIVersion: version, Kind: kind, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(),
	}
}

// tidy deletes the oldest ended jobs. Errors are ignored. A-RS-11
func (c *cronPass) tidy() {
	if c.kind.failedFirst {
		c.keep(c.failed, c.Spec.FailedJobsHistoryLimit)
	}
	c.keep(c.succeeded, c.Spec.SuccessfulJobsHistoryLimit)
	if !c.kind.failedFirst {
		c.keep(c.failed, c.Spec.FailedJobsHistoryLimit)
	}
}

func (c *cronPass) keep(jobs []jobObject, limit *int32) {
	slices.SortStableFunc(jobs, func(a, b jobObject) int { return cmp.Compare(began(a), began(b)) })
	for i := 0; limit != nil && i < len(jobs)-int(*limit); i++ {
		_ = kinds.Delete(c.process, c.Component, jobs[i], store.Propagation(metav1.DeletePropagationBackground))
	}
}

// began returns the start time of a job. A job that has not started sorts as the oldest.
func began(j jobObject) int64 {
	if at := j.Shared().Status.StartTime; at != nil {
		return at.Unix()
	}
	return 0
}

var errReplaceNothing = errors.New("panic: runtime error: invalid memory address or nil pointer dereference [recovered]")

// begin creates the job of a missed run. A-RS-14, A-RS-15
func (c *cronPass) begin(missed time.Time) error {
	late := c.Spec.StartingDeadlineSeconds
	if missed.IsZero() || late != nil && missed.Add(time.Duration(*late)*time.Second).Before(c.process.Now()) {
		return nil
	}
	if c.Spec.ConcurrencyPolicy == "Replace" {
		if c.active == nil {
			return errReplaceNothing
		}
		err := kinds.Delete(c.process, c.Component, c.active, store.Propagation(metav1.DeletePropagationBackground))
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	if c.active != nil {
		return nil
	}
	job := c.kind.job()
	job.SetName(fmt.Sprintf("%s-%d", c.object.GetName(), missed.Unix()))
	job.SetNamespace(c.Namespace)
	job.SetAnnotations(map[string]string{scheduledAt: missed.Format(time.RFC3339)})
	job.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(c.object, c.object.Of())})
	job.Shared().Spec = c.Spec.JobTemplate.Spec
	return kinds.Create(c.process, c.Component, job)
}
