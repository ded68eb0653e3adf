package cronjob

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// A controller that finds more missed starts than this emits an event.
const manyMissed = 100

// delta allows for the delay between a start time and the controller's check.
const delta = 100 * time.Millisecond

// scheduleOf reads when the jobs of a cron job start, by its time zone.
func scheduleOf(c cronJob) (cron.Schedule, error) {
	text := c.Spec.Schedule
	if c.Spec.TimeZone != nil {
		text = "TZ=" + *c.Spec.TimeZone + " " + text
	}
	return cron.ParseStandard(text)
}

// due returns the latest start that is due since the last start, or since the creation of the cron
// job. It also returns the number of due starts. The time is zero if no start is due.
func due(c cronJob, now time.Time, s cron.Schedule) (latest time.Time, missed int64, err error) {
	since := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		since = c.Status.LastScheduleTime.Time
	}
	if d := c.Spec.StartingDeadlineSeconds; d != nil {
		if begin := now.Add(-time.Duration(*d) * time.Second); begin.After(since) {
			since = begin
		}
	}
	first := s.Next(since.UTC())
	second := s.Next(first)
	switch {
	case now.Before(first):
		return time.Time{}, 0, nil
	case now.Before(second):
		return first, 1, nil
	}
	between := second.Sub(first)
	if between < time.Second {
		return time.Time{}, 0, errors.New("time difference between two schedules is less than 1 second")
	}
	missed = int64(now.Sub(first)/between) + 1
	for t := s.Next(first.Add(time.Duration(missed-2) * between)); !t.After(now); t = s.Next(t) {
		latest = t
	}
	return latest, missed, nil
}

// next returns the time until the next start.
func next(now time.Time, s cron.Schedule) time.Duration {
	return s.Next(now.UTC()).Add(delta).Sub(now)
}

// warnOfMissed emits an event about missed starts if there are many, like the real controller.
func (c *Controller) warnOfMissed(of cronJob, missed int64) {
	if missed > manyMissed {
		c.Event(of, corev1.EventTypeWarning, "TooManyMissedTimes",
			"too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew")
	}
}

// jobName returns the name of the job that starts at a time. All instances of the controller use
// the same name.
func jobName(c cronJob, start time.Time) string {
	return fmt.Sprintf("%s-%d", c.Name, start.Unix()/60)
}

// isActive reports whether the status of a cron job names a job as running.
func isActive(c cronJob, name string) bool {
	for _, ref := range c.Status.Active {
		if ref.Name == name {
			return true
		}
	}
	return false
}

func finished(j *batchv1.Job) (batchv1.JobConditionType, bool) {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return c.Type, true
		}
	}
	return "", false
}
