package snapshot

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// binding binds snapshots and contents of one kind, single or group. Both kinds use the same steps,
// with different texts.
type binding[S, C store.Object] struct {
	c         *Controller
	snapshots *component.Overlay[S]
	contents  *component.Overlay[C]
	word      string // Snapshot, in reasons and messages of events

	// status returns the error and the readiness in the status of a snapshot. It creates the status
	// if it is missing.
	status func(S) (**statusError, **bool)
	// named returns the names of the content and the class in a snapshot's spec; nil if one is
	// missing.
	named func(S) (content, class *string)
	// nameOf returns the name of the content that is created for a snapshot. boundTo returns the
	// name of the bound content; "" for none.
	nameOf, boundTo func(S) string
	// parts are the reference and the class of a content.
	parts func(C) (ref *corev1.ObjectReference, class **string)
	// fits reports whether a content is pre-provisioned (given is true) or dynamically provisioned
	// (given is false).
	fits func(c C, given bool) bool
	// copy copies the content's status into the snapshot.
	copy func(*kernel.Process, S, C) error
}

func (b *binding[S, C]) content() string { return "Volume" + b.word + "Content" }

// noun returns the kind of snapshot in messages: snapshot, or group snapshot.
func (b *binding[S, C]) noun() string {
	return strings.ToLower(strings.Replace(b.word, "GroupS", "Group S", 1))
}

// given binds a snapshot to the content in its spec. C-SNAP-15
func (b *binding[S, C]) given(p *kernel.Process, s S, found C, exists bool) error {
	name, class := b.named(s)
	if !exists {
		b.fail(p, s, true, b.word+"ContentMissing", b.content()+" is missing")
		return fmt.Errorf("%s %s requests an non-existing content %s", b.noun(), store.KeyOf(s), *name)
	}
	if ref, own := b.parts(found); ref.UID == "" || *own == nil && class != nil {
		bound, err := component.Patch(p, b.c.Component, store.KeyOf(found), func(now C) {
			ref, own := b.parts(now)
			if ref.UID = s.GetUID(); class != nil {
				*own = class
			}
		})
		if err != nil {
			b.fail(p, s, true, b.word+"BindFailed", fmt.Sprintf("%s failed to bind %s, %v", b.word, b.content(), err))
			return fmt.Errorf("%s %s is bound, but %s %s is not bound to it correctly, %w", b.noun(), store.KeyOf(s), b.content(), found.GetName(), err)
		}
		b.contents.Put(bound)
		found = bound
	}
	return b.copyStatus(p, s, found, false)
}

// verify only checks that a ready snapshot is still bound. C-SNAP-17
func (b *binding[S, C]) verify(p *kernel.Process, s S) (holds bool, err error) {
	found, ok := b.contents.Get(store.Key{Name: b.boundTo(s)})
	switch {
	case !ok:
		return false, b.fail(p, s, true, b.word+"ContentMissing", b.content()+" is missing")
	case !b.isFor(found, s, false):
		return false, b.fail(p, s, true, b.word+"Misbound", fmt.Sprintf("%s is not bound to the Volume%s correctly", b.content(), b.word))
	}
	return true, nil
}

// contentFor finds the content of a snapshot. It rejects a content of another kind or for another
// snapshot. C-SNAP-14
func (b *binding[S, C]) contentFor(p *kernel.Process, s S) (found C, exists bool, err error) {
	name, subject, is, expected := b.nameOf(s), b.content()+" "+b.nameOf(s), "pre-provisioned", "dynamically provisioned"
	given, _ := b.named(s)
	if given != nil {
		name, subject, is, expected = *given, b.content(), expected, is
	}
	found, exists = b.contents.Get(store.Key{Name: name})
	switch {
	case !exists:
	case !b.fits(found, given != nil):
		err = b.refuse(p, s, b.word+"ContentMismatch", fmt.Sprintf("%s is %s while expecting a %s one", subject, is, expected))
	case !b.isFor(found, s, given != nil):
		err = b.refuse(p, s, b.word+"ContentMisbound", fmt.Sprintf("%s [%s] is bound to a different %s", b.content(), name, b.noun()))
	}
	return found, exists && err == nil, err
}

// isFor reports whether a content is for the snapshot. With orAny it also accepts a content without
// a UID.
func (b *binding[S, C]) isFor(found C, s S, orAny bool) bool {
	ref, _ := b.parts(found)
	return ref.Name == s.GetName() && ref.Namespace == s.GetNamespace() && (ref.UID == s.GetUID() || orAny && ref.UID == "")
}

func (b *binding[S, C]) refuse(p *kernel.Process, s S, reason, message string) error {
	b.fail(p, s, true, reason, message)
	return errors.New(message)
}

// fail writes an error into the snapshot and emits an event, unless the status already has this
// error. If the write fails, no event is emitted: the real event would refer to an object without a
// name. C-SNAP-16
func (b *binding[S, C]) fail(p *kernel.Process, s S, unready bool, reason, message string) error {
	failed := s.DeepCopyObject().(S)
	known, ready := b.status(failed)
	if *known != nil && *(*known).Message == message {
		return nil
	}
	now := metav1.NewTime(p.Now())
	*known = &statusError{Time: &now, Message: &message}
	if unready {
		*ready = new(bool)
	}
	written, err := component.UpdateStatus(p, b.c.Component, failed)
	if err != nil {
		return err
	}
	b.c.warn(s, reason, "%s", message)
	b.snapshots.Put(written)
	return nil
}

// copyStatus copies the content's status into the snapshot. If this fails, unready marks the
// snapshot as not ready. C-SNAP-14
func (b *binding[S, C]) copyStatus(p *kernel.Process, s S, from C, unready bool) error {
	err := b.copy(p, s, from)
	if err != nil {
		b.fail(p, s, unready, b.word+"StatusUpdateFailed", fmt.Sprintf("%s status update failed, %v", b.word, err))
	}
	return err
}

// bind calls copyStatus with the current snapshot.
func (b *binding[S, C]) bind(p *kernel.Process, s S, from C) error {
	now, err := b.read(p, s)
	if err != nil {
		return err
	}
	return b.copyStatus(p, now, from, true)
}

func (b *binding[S, C]) read(p *kernel.Process, s S) (S, error) {
	now, err := component.Live[S](p, b.c.Component, store.KeyOf(s))
	if err != nil {
		return now, fmt.Errorf("error get %s %s from api server: %w", b.noun(), store.KeyOf(s), err)
	}
	return now, nil
}

// newest processes an object, unless the controller has written a newer version than the
// informer's. The newer version will follow. C-SNAP-11
func newest[T store.Object](c *Controller, own *component.Overlay[T], sync func(*kernel.Process, T) error) func(*kernel.Process, store.Key) error {
	return func(p *kernel.Process, key store.Key) error {
		found, ok := component.Cached[T](c.Component, key)
		if !ok || any(own.Newest(found)) != any(found) {
			return nil
		}
		return sync(p, found)
	}
}

// guard adds a finalizer to a content.
func guard[C store.Object](p *kernel.Process, c *Controller, contents *component.Overlay[C], found C, finalizer string) error {
	guarded, err := component.Patch(p, c.Component, store.KeyOf(found), func(now C) {
		now.SetFinalizers(append(slices.Clone(now.GetFinalizers()), finalizer))
	})
	if err != nil {
		return failedToUpdate(found.GetName(), err)
	}
	contents.Put(guarded)
	return nil
}

// ofSnapshots binds single snapshots.
func (c *Controller) ofSnapshots() *binding[volumeSnapshot, content] {
	return &binding[volumeSnapshot, content]{
		c: c, snapshots: c.snapshots, contents: c.contents, word: "Snapshot", copy: c.copyStatus, nameOf: snapshot.ContentName, boundTo: snapshot.BoundContent,
		status: func(s volumeSnapshot) (**statusError, **bool) {
			if s.Status == nil {
				s.Status = &status{}
			}
			return &s.Status.Error, &s.Status.ReadyToUse
		},
		named: func(s volumeSnapshot) (content, class *string) {
			return s.Spec.Source.VolumeSnapshotContentName, s.Spec.VolumeSnapshotClassName
		},
		parts: func(c content) (*corev1.ObjectReference, **string) {
			return &c.Spec.VolumeSnapshotRef, &c.Spec.VolumeSnapshotClassName
		},
		fits: func(c content, given bool) bool {
			return given && c.Spec.Source.SnapshotHandle != nil || !given && c.Spec.Source.VolumeHandle != nil
		},
	}
}

// ofGroups binds groups.
func (c *Controller) ofGroups() *binding[groupSnapshot, groupContent] {
	return &binding[groupSnapshot, groupContent]{
		c: c, snapshots: c.groups, contents: c.groupContents, word: "GroupSnapshot", copy: c.copyGroupStatus, nameOf: snapshot.GroupContentName, boundTo: snapshot.BoundGroupContent,
		status: func(g groupSnapshot) (**statusError, **bool) {
			if g.Status == nil {
				g.Status = &groupStatus{}
			}
			return &g.Status.Error, &g.Status.ReadyToUse
		},
		named: func(g groupSnapshot) (content, class *string) {
			return g.Spec.Source.VolumeGroupSnapshotContentName, g.Spec.VolumeGroupSnapshotClassName
		},
		parts: func(c groupContent) (*corev1.ObjectReference, **string) {
			return &c.Spec.VolumeGroupSnapshotRef, &c.Spec.VolumeGroupSnapshotClassName
		},
		fits: func(c groupContent, given bool) bool { return (c.Spec.Source.GroupSnapshotHandles != nil) == given },
	}
}
