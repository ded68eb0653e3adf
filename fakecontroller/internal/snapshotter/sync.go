package snapshotter

import (
	"fmt"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

func (r *run) sync(p *kernel.Process, c content) error {
	switch {
	case r.contents.shouldDelete(c, c.Spec.Source.SnapshotHandle != nil, c.Spec.VolumeSnapshotRef.UID):
		return r.delete(p, c)
	case c.Spec.Source.VolumeHandle != nil && c.Status == nil && !isMember(c):
		return r.contents.update(p, c, r.create, "SnapshotCreationFailed", "Failed to create snapshot")
	case isReady(c):
		_, err := r.contents.annotate(p, c, false)
		return err
	case c.Spec.Source.SnapshotHandle != nil || isCutMember(c):
		return r.contents.update(p, c, r.look, "SnapshotContentCheckandUpdateFailed", "Failed to check and update snapshot content")
	case isMember(c): // snapshot-controller has not written its snapshot yet
		return errNotReady
	}
	// C-SNAP-36: the sidecar checks a snapshot in progress by repeating the call.
	return r.contents.update(p, c, r.create, "SnapshotContentCheckandUpdateFailed", "Failed to check and update snapshot content")
}

// isMember reports whether the snapshot is cut as part of a group. C-GSNAP-6
func isMember(c content) bool { return metav1.HasAnnotation(c.ObjectMeta, snapshot.GroupHandle) }

// isCutMember reports whether the content is a member of a group. The sidecar requests its state
// from the driver, as for a pre-provisioned snapshot. C-SNAP-37
func isCutMember(c content) bool {
	return c.Status != nil && c.Status.VolumeGroupSnapshotHandle != nil && c.Status.SnapshotHandle != nil
}

func failedToUpdate(name string, err error) error {
	return fmt.Errorf("snapshot controller failed to update %s on API server: %w", name, err)
}

// snap is the driver's description of a snapshot.
type snap struct {
	handle  string
	created time.Time // zero if the driver does not report it
	bytes   int64
	ready   bool
	group   string // the handle of its group; empty without one
}

// saveStatus records the driver's answer. Only the readiness replaces an earlier value. C-SNAP-34
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
