package snapshotter

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// contents handles the contents of one kind: of snapshots or of group snapshots. The sidecar
// processes both in the same way, with different texts.
type contents[C store.Object] struct {
	*component.Overlay[C]
	run     *run
	queue   *workqueue.Queue[store.Key]
	unready map[store.Key]bool // contents that the resync processes
	marks
	words

	sync func(*kernel.Process, C) error
	// spec returns the driver and the class that a content names.
	spec func(C) (driver string, class *string)
	// status returns the error and the readiness in a content's status. It creates a missing
	// status.
	status  func(C) (**snapshotv1.VolumeSnapshotError, **bool)
	isReady func(C) bool
	// waits schedules another look at a content that is not ready, without an error.
	waits bool
	// findClass finds a class; classes is the resource of its kind.
	findClass func(name string) (class, bool)
	classes   schema.GroupResource
	lists     snapshot.SecretKind // for the driver's lists
}

// class is a class of snapshots or of groups.
type class struct {
	driver     string
	parameters map[string]string
}

// marks are the annotations and the finalizer of a kind of content.
type marks struct {
	beingCreated, beingDeleted  string
	secretName, secretNamespace string
	finalizer                   string
}

// words are the words in messages about a kind of content.
type words struct {
	noun        string // snapshot
	subject     string // content, of most messages
	ofStatus    string // content, of messages about an error in its status
	unmarked    string // content, of messages about an annotation that stays after the cut
	annotation  string // name of the annotation while the driver may be cutting
	deleteError string // reason of an event
	template    string // prefix of the templates for names of Secrets
}

// errNotReady makes the sidecar process a content again although there is no error. C-SNAP-36
var errNotReady = errors.New("the snapshot is not ready to use")

func (k *contents[C]) start(called string, o workqueue.Options) {
	k.queue, k.unready = workqueue.New(called, o, k.run.Go, k.syncByKey), map[store.Key]bool{}
}

// syncByKey skips a content if the sidecar has written a newer version than the informer's. The
// newer version will follow. C-SNAP-11
func (k *contents[C]) syncByKey(p *kernel.Process, key store.Key) error {
	c, ok := component.Cached[C](k.run.Component, key)
	if !ok || any(k.Newest(c)) != any(c) || !k.own(c) {
		return nil
	}
	err := k.sync(p, c)
	k.run.life.ExitIfLost(err)
	return err
}

// own reports whether a content belongs to this driver. C-SNAP-31
func (k *contents[C]) own(c C) bool {
	driver, name := k.spec(c)
	if driver != k.run.driver || name == nil {
		return driver == k.run.driver
	}
	class, ok := k.findClass(*name)
	return !ok || class.driver == k.run.driver
}

func (k *contents[C]) class(name string) (class, error) {
	found, ok := k.findClass(name)
	if !ok {
		return found, apierrors.NewNotFound(k.classes, name)
	}
	return found, nil
}

// shouldDelete reports whether the driver has to delete a content. For a pre-provisioned content,
// bound is the UID of its snapshot or group. C-SNAP-32
func (k *contents[C]) shouldDelete(c C, preProvisioned bool, bound types.UID) bool {
	if c.GetDeletionTimestamp() == nil {
		return false
	}
	if preProvisioned && bound == "" {
		return true
	}
	return !has(c, k.beingCreated) && has(c, k.beingDeleted)
}

func has(c store.Object, annotation string) bool {
	_, is := c.GetAnnotations()[annotation]
	return is
}

// update runs an operation on a content and records its error. The operation returns the resulting
// content, also with an error.
func (k *contents[C]) update(p *kernel.Process, c C, do func(*kernel.Process, C) (C, error), reason, failed string) error {
	c, err := do(p, c)
	if err != nil {
		k.saveError(p, c, reason, fmt.Sprintf("%s: %v", failed, err))
		return err
	}
	k.Put(c)
	if k.waits && !k.isReady(c) {
		return errNotReady
	}
	return nil
}

// saveError writes an error into the status and emits an event, unless the status already has this
// error. C-SNAP-35
func (k *contents[C]) saveError(p *kernel.Process, c C, reason, message string) {
	if known, _ := k.status(c.DeepCopyObject().(C)); *known != nil && *(*known).Message == message {
		return
	}
	now := metav1.NewTime(p.Now())
	written, err := component.PatchStatus(p, k.run.Component, store.KeyOf(c), func(c C) {
		failed, ready := k.status(c)
		*failed = &snapshotv1.VolumeSnapshotError{Time: &now, Message: &message}
		*ready = new(bool)
	})
	k.run.event(c, corev1.EventTypeWarning, reason, "%s", message)
	if err == nil {
		k.Put(written)
	}
}

// annotate marks a content while the driver may be creating its snapshot, so that the content is
// not deleted meanwhile. C-SNAP-34
func (k *contents[C]) annotate(p *kernel.Process, c C, on bool) (C, error) {
	if has(c, k.beingCreated) == on {
		return c, nil
	}
	return k.patch(p, c, func(c C) {
		all := maps.Clone(c.GetAnnotations())
		if all == nil {
			all = map[string]string{}
		}
		if delete(all, k.beingCreated); on {
			all[k.beingCreated] = "yes"
		}
		c.SetAnnotations(all)
	})
}

// release removes the finalizer of a content.
func (k *contents[C]) release(p *kernel.Process, c C) error {
	if !slices.Contains(c.GetFinalizers(), k.finalizer) {
		return nil
	}
	_, err := k.patch(p, c, func(c C) { c.SetFinalizers(volume.WithoutFinalizers(c.GetFinalizers(), k.finalizer)) })
	return err
}

func (k *contents[C]) patch(p *kernel.Process, c C, change func(C)) (C, error) {
	changed, err := component.Patch(p, k.run.Component, store.KeyOf(c), change)
	if err != nil {
		return c, failedToUpdate(c.GetName(), err)
	}
	k.Put(changed)
	return changed, nil
}

// cutting holds the steps from a content to its snapshot: the call of the driver, and the record of
// its answer.
type cutting[C store.Object, Made any] struct {
	cut   func() (Made, error)
	save  func(*kernel.Process, C, Made) (C, error)
	taken string // text for the message of an error
}

// cut makes the driver create a snapshot or a group snapshot, and saves its answer. C-SNAP-34
func cut[C store.Object, Made any](p *kernel.Process, k *contents[C], c C, by cutting[C, Made]) (C, error) {
	c, err := k.annotate(p, c, true)
	if err != nil {
		return c, fmt.Errorf("failed to add %s annotation on the %s %s: %q", k.annotation, k.subject, c.GetName(), err)
	}
	made, err := by.cut()
	if err != nil {
		cause := fmt.Errorf("failed to take %s: %w", by.taken, quoted{err})
		if isFinal(err) { // C-SNAP-35
			if c, err = k.annotate(p, c, false); err != nil {
				return c, fmt.Errorf("failed to remove %s annotation from the %s %s: %w", k.annotation, k.subject, c.GetName(), err)
			}
		}
		return c, cause
	}
	if c, err = by.save(p, c, made); err != nil {
		return c, fmt.Errorf("error updating status for %s %s: %w", k.ofStatus, c.GetName(), err)
	}
	if c, err = k.annotate(p, c, false); err != nil {
		return c, fmt.Errorf("failed to remove %s annotation on the %s %s: %w", k.annotation, k.unmarked, c.GetName(), err)
	}
	return c, nil
}

// secrets returns the secrets that a content's annotations name.
func (k *contents[C]) secrets(p *kernel.Process, c C) (map[string]string, error) {
	if !has(c, k.secretName) || !has(c, k.secretNamespace) {
		return nil, nil
	}
	ref := &corev1.SecretReference{Name: c.GetAnnotations()[k.secretName], Namespace: c.GetAnnotations()[k.secretNamespace]}
	if ref.Name == "" || ref.Namespace == "" {
		return nil, fmt.Errorf("cannot retrieve secrets for %s content %q, err: secret name or namespace not specified", k.noun, c.GetName())
	}
	values, err := sidecar.ReadSecret(p, k.run.Component, ref)
	if err != nil {
		return nil, fmt.Errorf("cannot get credentials for %s content %q", k.noun, c.GetName())
	}
	return values, nil
}

// delete makes the driver delete the snapshot or the group of a content, and removes the handle
// from the content. C-SNAP-33
func (k *contents[C]) delete(p *kernel.Process, c C, call func(secrets map[string]string) error, clear func(C)) error {
	failed := func(why string, err error) error {
		k.run.event(c, corev1.EventTypeWarning, k.deleteError, "%s", why)
		return err
	}
	secrets, err := k.secrets(p, c)
	if err != nil {
		return failed("Failed to get snapshot credentials", fmt.Errorf("failed to get input parameters to delete %s for %s %s: %w", k.noun, k.subject, c.GetName(), err))
	}
	if err := call(secrets); err != nil {
		return failed("Failed to delete "+k.noun, fmt.Errorf("failed to delete %s %q: %w", k.noun, c.GetName(), err))
	}
	cleared, err := component.PatchStatus(p, k.run.Component, store.KeyOf(c), clear)
	if err != nil {
		return failed("Failed to clear content status", failedToUpdate(c.GetName(), err))
	}
	return k.release(p, cleared)
}

// classSecrets returns the secrets that the class of a content names for ListSnapshots.
func (k *contents[C]) classSecrets(p *kernel.Process, c C) (map[string]string, error) {
	_, name := k.spec(c)
	if name == nil {
		return nil, nil
	}
	class, err := k.class(*name)
	if err != nil {
		return nil, fmt.Errorf("failed to get %s class %s for %s content %s: %w", k.noun, *name, k.noun, c.GetName(), err)
	}
	ref, err := k.lists.Of(class.parameters, k.template, c.GetName(), nil)
	if err != nil {
		return nil, fmt.Errorf("failed to get secret reference for %s content %s: %w", k.noun, c.GetName(), err)
	}
	secrets, err := sidecar.ReadSecret(p, k.run.Component, ref)
	if err != nil {
		return nil, fmt.Errorf("failed to get credentials for %s content %s: %w", k.noun, c.GetName(), err)
	}
	return secrets, nil
}

// noteReadiness records which contents the resync has to process.
func (k *contents[C]) noteReadiness(e store.Event[C]) {
	if e.Type == store.Deleted || k.isReady(e.Object) && e.Object.GetDeletionTimestamp() == nil || !k.own(e.Object) {
		delete(k.unready, store.KeyOf(e.Object))
		return
	}
	k.unready[store.KeyOf(e.Object)] = true
	k.run.resyncer.Wake()
}
