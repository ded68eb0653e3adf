package manager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
)

func at(t *testing.T, clock string) time.Time {
	t.Helper()
	when, err := time.Parse(time.DateTime, "2026-01-05 "+clock) // a Monday
	require.NoError(t, err)
	return when
}

func TestMissedRunsAndTheNextOne(t *testing.T) { // A-RS-12
	deadline := int64(90)
	for name, c := range map[string]struct {
		schedule, created, last, now string
		deadline                     *int64
		missed, next                 string
	}{
		"nothing is missed yet":            {"*/10 * * * *", "10:01:00", "", "10:05:00", nil, "", "10:10:00"},
		"one since it was made":            {"*/10 * * * *", "10:01:00", "", "10:10:00", nil, "10:10:00", "10:20:00"},
		"the last of several":              {"*/10 * * * *", "08:00:00", "09:00:00", "10:25:00", nil, "10:20:00", "10:30:00"},
		"none after the last":              {"*/10 * * * *", "08:00:00", "10:20:00", "10:25:00", nil, "", "10:30:00"},
		"only those within the deadline":   {"*/10 * * * *", "08:00:00", "09:00:00", "10:25:00", &deadline, "", "10:30:00"},
		"a descriptor of the cron library": {"@hourly", "08:30:00", "", "10:25:00", nil, "10:00:00", "11:00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			job := &kinds.CronJob{}
			job.CreationTimestamp = metav1.NewTime(at(t, c.created))
			job.Spec.Schedule, job.Spec.StartingDeadlineSeconds = c.schedule, c.deadline
			if c.last != "" {
				last := metav1.NewTime(at(t, c.last))
				job.Status.LastScheduleTime = &last
			}
			missed, next, err := runs(job, at(t, c.now), 0)
			require.NoError(t, err)
			assert.Equal(t, at(t, c.next), next)
			if c.missed == "" {
				assert.True(t, missed.IsZero(), missed)
			} else {
				assert.Equal(t, at(t, c.missed), missed)
			}
		})
	}
}

func TestMoreThanAHundredMissedRunsAreAnError(t *testing.T) { // A-RS-12
	job := &kinds.CronJob{}
	job.CreationTimestamp, job.Spec.Schedule = metav1.NewTime(at(t, "08:00:00")), "* * * * *"
	_, _, err := runs(job, at(t, "09:40:00"), 0)
	require.NoError(t, err)
	_, _, err = runs(job, at(t, "09:41:00"), 0)
	assert.ErrorIs(t, err, errTooManyMissed)
	job.Spec.Schedule = "every tuesday"
	_, _, err = runs(job, at(t, "08:01:00"), 0)
	assert.ErrorContains(t, err, `unparsable schedule "every tuesday"`)
}

func TestRunsAreStaggeredByTheUID(t *testing.T) { // A-RS-13
	job := &kinds.CronJob{}
	job.CreationTimestamp, job.Spec.Schedule = metav1.NewTime(at(t, "10:01:00")), "@hourly"
	seen := map[time.Duration]bool{}
	for _, uid := range []types.UID{"a", "b", "c", "d"} {
		job.UID = uid
		_, next, err := runs(job, at(t, "10:05:00"), 2*time.Hour)
		require.NoError(t, err)
		offset := next.Sub(at(t, "11:00:00"))
		assert.True(t, offset >= 0 && offset < time.Hour, "less than the interval: %v", offset)
		seen[offset] = true
	}
	assert.Len(t, seen, 4)
	// FNV-1a-32 of "a" is 0xe40c292c, modulo 3600 s.
	job.UID = "a"
	_, next, err := runs(job, at(t, "10:05:00"), 2*time.Hour)
	require.NoError(t, err)
	assert.Equal(t, time.Duration(0xe40c292c%3600)*time.Second, next.Sub(at(t, "11:00:00")))
	// The schedule determines the missed run; the name of its job contains the planned time.
	missed, _, err := runs(job, at(t, "11:00:00"), 2*time.Hour)
	require.NoError(t, err)
	assert.Equal(t, next, missed)
}
