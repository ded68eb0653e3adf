package snapshotter

import (
	"errors"
	"fmt"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// errNotReady has a content looked at again although nothing failed. C-SNAP-36
var errNotReady = errors.New("the snapshot is not ready to use")

// syncByKey leaves a content alone of which the informer delivers an older version
// than the sidecar has written: the newer one is under way. C-SNAP-11
func (r *run) syncByKey(p *kernel.Process, key store.Key) error {
	c, ok := component.Cached[content](r.Component, key)
	if !ok || r.contents.Newest(c) != c || !r.own(c) {
		return nil
	}
	err := r.sync(p, c)
	r.life.ExitIfLost(err)
	return err
}

func (r *run) sync(p *kernel.Process, c content) error {
	switch {
	case shouldDelete(c):
		return r.delete(p, c)
	case c.Spec.Source.VolumeHandle != nil && c.Status == nil && !isMember(c):
		return r.update(p, c, r.create, "SnapshotCreationFailed", "Failed to create snapshot")
	case isReady(c):
		_, err := r.annotateBeingCreated(p, c, false)
		return err
	case c.Spec.Source.SnapshotHandle != nil || isCutMember(c):
		return r.update(p, c, r.look, "SnapshotContentCheckandUpdateFailed", "Failed to check and update snapshot content")
	case isMember(c): // snapshot-controller has not said yet which snapshot it is
		return errNotReady
	}
	// C-SNAP-36: to ask about a snapshot that is being cut is to cut it again.
	return r.update(p, c, r.create, "SnapshotContentCheckandUpdateFailed", "Failed to check and update snapshot content")
}

// isMember reports whether the snapshot is cut with a group, not for itself. C-GSNAP-6
func isMember(c content) bool { return metav1.HasAnnotation(c.ObjectMeta, snapshot.GroupHandle) }

// isCutMember: the sidecar requests the state of a group's member from the driver, like that of a
// pre-provisioned snapshot. C-SNAP-37
func isCutMember(c content) bool {
	return c.Status != nil && c.Status.VolumeGroupSnapshotHandle != nil && c.Status.SnapshotHandle != nil
}

// shouldDelete: C-SNAP-32
func shouldDelete(c content) bool {
	if c.DeletionTimestamp == nil {
		return false
	}
	if c.Spec.Source.SnapshotHandle != nil && c.Spec.VolumeSnapshotRef.UID == "" {
		return true
	}
	return !metav1.HasAnnotation(c.ObjectMeta, snapshot.BeingCreated) && metav1.HasAnnotation(c.ObjectMeta, snapshot.BeingDeleted)
}

// update runs an operation on a snapshot and records its error. The operation returns the resulting
// content, also with an error.
func (r *run) update(p *kernel.Process, c content, do func(*kernel.Process, content) (content, error), reason, failed string) error {
	c, err := do(p, c)
	if err != nil {
		r.saveError(p, c, reason, fmt.Sprintf("%s: %v", failed, err))
		return err
	}
	r.contents.Put(c)
	if !isReady(c) {
		return errNotReady
	}
	return nil
}

// saveError writes an error down and reports it, unless it is the one that is
// there already. C-SNAP-35
func (r *run) saveError(p *kernel.Process, c content, reason, message string) {
	if c.Status != nil && c.Status.Error != nil && *c.Status.Error.Message == message {
		return
	}
	now := metav1.NewTime(p.Now())
	written, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c content) {
		if c.Status == nil {
			c.Status = &snapshotv1.VolumeSnapshotContentStatus{}
		}
		c.Status.Error = &snapshotv1.VolumeSnapshotError{Time: &now, Message: &message}
		c.Status.ReadyToUse = new(bool)
	})
	r.event(c, corev1.EventTypeWarning, reason, "%s", message)
	if err == nil {
		r.contents.Put(written)
	}
}

// annotateBeingCreated says in the content whether the driver may be cutting, so
// that it is not deleted meanwhile. C-SNAP-34
func (r *run) annotateBeingCreated(p *kernel.Process, c content, on bool) (content, error) {
	return annotate(p, r, c, snapshot.BeingCreated, on, r.contents.Put)
}

func failedToUpdate(name string, err error) error {
	return fmt.Errorf("snapshot controller failed to update %s on API server: %w", name, err)
}

// snap is the driver's description of a snapshot.
type snap struct {
	handle  string
	created time.Time // zero if it does not say
	bytes   int64
	ready   bool
	group   string // the handle of its group; empty if it has none, or the driver does not say
}

// saveStatus records the driver's answer; earlier values stay, except for readiness. C-SNAP-34
func (r *run) saveStatus(p *kernel.Process, c content, s snap) (content, error) {
	if s.created.IsZero() {
		s.created = p.Now()
	}
	written, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c content) {
		if c.Status == nil {
			c.Status = &snapshotv1.VolumeSnapshotContentStatus{}
		}
		setOnce(&c.Status.SnapshotHandle, s.handle)
		setOnce(&c.Status.CreationTime, s.created.UnixNano())
		if s.bytes > 0 {
			setOnce(&c.Status.RestoreSize, s.bytes)
		}
		if s.group != "" {
			setOnce(&c.Status.VolumeGroupSnapshotHandle, s.group)
		}
		c.Status.ReadyToUse = &s.ready
		if s.ready {
			c.Status.Error = nil
		}
	})
	if err != nil {
		return c, failedToUpdate(c.Name, err)
	}
	return written, nil
}

func setOnce[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}
