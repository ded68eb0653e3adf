package manager

import (
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/robfig/cron/v3"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
)

// maxMissed bounds the number of runs that a cron job may have missed. A-RS-12
const maxMissed = 100

var errTooManyMissed = errors.New("too many missed start times (> 100)")

// runs returns the last missed run of a cron job (zero if there is none) and the next run. Both are
// staggered, but the decision whether a run was missed ignores the staggering. A-RS-12, A-RS-13
func runs(c *kinds.CronJob, now time.Time, window time.Duration) (missed, next time.Time, err error) {
	schedule, err := cron.ParseStandard(c.Spec.Schedule)
	if err != nil {
		return missed, next, fmt.Errorf("unparsable schedule %q: %w", c.Spec.Schedule, err)
	}
	earliest := c.CreationTimestamp.Time
	if c.Status.LastScheduleTime != nil {
		earliest = c.Status.LastScheduleTime.Time
	}
	plain := schedule.Next(now)
	next = staggered(c.UID, plain, schedule, window)
	if seconds := c.Spec.StartingDeadlineSeconds; seconds != nil {
		if limit := now.Add(-time.Duration(*seconds)*time.Second - next.Sub(plain)); limit.After(earliest) {
			earliest = limit
		}
	}
	count := 0
	for at := schedule.Next(earliest); !at.After(now); at = schedule.Next(at) {
		missed = at
		if count++; count > maxMissed {
			return time.Time{}, time.Time{}, errTooManyMissed
		}
	}
	return staggered(c.UID, missed, schedule, window), next, nil
}

// staggered delays a run by a time that depends on the cron job's uid. The time is shorter than the
// window and than the interval to the next run. Therefore the jobs of a schedule do not all start
// at once. A-RS-13
func staggered(uid types.UID, at time.Time, schedule cron.Schedule, window time.Duration) time.Time {
	if window == 0 || at.IsZero() {
		return at
	}
	seconds := int64(min(schedule.Next(at).Sub(at), window).Seconds())
	if seconds <= 0 {
		return at
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(uid)) // never fails
	return at.Add(time.Duration(int64(hash.Sum32())%seconds) * time.Second)
}
