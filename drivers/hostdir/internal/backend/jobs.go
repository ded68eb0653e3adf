//go:build linux

package backend

import (
	"errors"
	"fmt"
	"time"
)

// ErrPending is returned while a job of the backend works on the volume.
var ErrPending = errors.New("is under way")

// Jobs describes work that the backend does outside the calls, like the storage of a cloud. The end
// time of a job is stored on disk, so that the job continues when programs are killed. With the
// zero value, calls do all work themselves.
type Jobs struct {
	// Attach and Detach are the durations of attaching and detaching a volume. Calls return
	// ErrPending meanwhile.
	Attach, Detach time.Duration
	// DetachLater makes Detach return immediately. The volume is detached when its job ends.
	DetachLater bool
	// Snapshot is the time until a snapshot, or a group snapshot, is ready.
	Snapshot time.Duration
	// RoundUp is the unit of sizes, in bytes. Default: none.
	RoundUp int64
}

// roundUp returns the size of a volume for the required bytes.
func (j Jobs) roundUp(bytes int64) int64 {
	if j.RoundUp == 0 {
		return bytes
	}
	return (bytes + j.RoundUp - 1) / j.RoundUp * j.RoundUp
}

// ready reports whether the job of an object with this creation time has ended.
func (j Jobs) ready(created time.Time) bool { return !time.Now().Before(created.Add(j.Snapshot)) }

// due returns the end time of a job that begins now; zero for a job without a duration.
func due(takes time.Duration) time.Time {
	if takes == 0 {
		return time.Time{}
	}
	return time.Now().Add(takes).UTC()
}

// Attached reports whether the job that attaches the volume has ended.
func (a Attachment) Attached() bool { return !time.Now().Before(a.From) }

// detached reports whether the job that detaches the volume has ended.
func (a Attachment) detached() bool { return !a.Until.IsZero() && !time.Now().Before(a.Until) }

// pending returns ErrPending while a job works on the attachment.
func (a Attachment) pending(id, nodeID string) error {
	switch {
	case !a.Until.IsZero():
		return fmt.Errorf("detaching volume %s from node %s %w", id, nodeID, ErrPending)
	case !a.Attached():
		return fmt.Errorf("attaching volume %s to node %s %w", id, nodeID, ErrPending)
	}
	return nil
}
