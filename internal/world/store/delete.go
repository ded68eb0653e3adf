package store

import (
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeleteOption is an option of a deletion.
type DeleteOption func(*deletion)

type deletion struct {
	grace       *int64
	uid         types.UID
	version     string
	propagation metav1.DeletionPropagation
	dry         bool
}

// GracePeriod replaces the kind's default grace period, in seconds. It can only shorten a deletion
// in progress.
func GracePeriod(seconds int64) DeleteOption { return func(d *deletion) { d.grace = &seconds } }

// PreconditionUID makes the deletion a Conflict if the object has another uid.
func PreconditionUID(uid types.UID) DeleteOption { return func(d *deletion) { d.uid = uid } }

// PreconditionVersion makes the deletion a Conflict if the object has another
// resource version.
func PreconditionVersion(version string) DeleteOption {
	return func(d *deletion) { d.version = version }
}

// Propagation selects the treatment of dependents. Foreground and Orphan add a finalizer for the
// garbage collector.
func Propagation(policy metav1.DeletionPropagation) DeleteOption {
	return func(d *deletion) { d.propagation = policy }
}

// DryRunOfDelete checks everything and deletes nothing.
func DryRunOfDelete() DeleteOption { return func(d *deletion) { d.dry = true } }

// check rejects a policy that does not exist.
func (d deletion) check() error {
	switch d.propagation {
	case "", metav1.DeletePropagationForeground, metav1.DeletePropagationBackground, metav1.DeletePropagationOrphan:
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "DeleteOptions"}, "", field.ErrorList{
		field.NotSupported(field.NewPath("propagationPolicy"), d.propagation, []string{"Foreground", "Background", "Orphan", "nil"}),
	})
}

// DeleteObject is Delete for callers that know the resource only at run time.
func (s *Store) DeleteObject(res *Resource, key Key, opts ...DeleteOption) (Object, error) {
	defer s.admission.Settle()
	var d deletion
	for _, opt := range opts {
		opt(&d)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	old, ok := s.head.GetObject(res, key)
	if !ok {
		return nil, res.NotFound(key)
	}
	if err := res.checkPreconditions(key, old, d); err != nil {
		return nil, err
	}
	return s.delete(res, key, old, d), nil
}

// checkPreconditions rejects a deletion of another uid or version. The real server names the kind
// here, not the resource.
func (r *Resource) checkPreconditions(key Key, old Object, d deletion) error {
	refuse := func(format string, args ...any) error {
		kind := schema.GroupResource{Group: r.GVK.Group, Resource: r.GVK.Kind}
		return apierrors.NewConflict(kind, key.Name, fmt.Errorf(format, args...))
	}
	if d.uid != "" && d.uid != old.GetUID() {
		return refuse("the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", d.uid, old.GetUID())
	}
	if d.version != "" && d.version != old.GetResourceVersion() {
		return refuse("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", d.version, old.GetResourceVersion())
	}
	return nil
}

// delete marks the object, removes it, or first marks and then removes it. A grace period is
// written even if it is zero.
func (s *Store) delete(res *Resource, key Key, old Object, d deletion) Object {
	obj := shallowCopy(old)
	if res.Terminate != nil && res.Terminate(s.Timestamp(), obj) {
		if d.dry {
			return obj
		}
		return s.commitChange(res, key, old, obj)
	}
	graceful := false
	if res.Grace != nil {
		var pending bool
		graceful, pending = s.beginGrace(res, obj, d.grace)
		if pending {
			return old
		}
	}
	obj.SetFinalizers(collectorFinalizers(obj.GetFinalizers(), d.propagation))
	held := len(obj.GetFinalizers()) > 0
	if !graceful && held {
		s.markDeleted(obj)
	}
	if d.dry {
		return obj
	}
	if graceful || held {
		old = s.commitChange(res, key, old, obj)
		if held || *obj.GetDeletionGracePeriodSeconds() > 0 {
			return old
		}
	}
	s.Commit(res, key, old, nil)
	return s.latest.last()
}

// commitChange commits a changed object and returns the stored one.
func (s *Store) commitChange(res *Resource, key Key, old, obj Object) Object {
	if obj.GetDeletionTimestamp().Equal(old.GetDeletionTimestamp()) && Same(obj, old) {
		return old
	}
	s.Commit(res, key, old, obj)
	return obj
}

// beginGrace sets the end of the grace period. pending means that a deletion is in progress, and
// that the new deletion does not shorten it.
func (s *Store) beginGrace(res *Resource, obj Object, requested *int64) (graceful, pending bool) {
	if until := obj.GetDeletionTimestamp(); until != nil {
		granted := obj.GetDeletionGracePeriodSeconds()
		if granted == nil {
			return false, false
		}
		if requested != nil && *requested < 0 {
			requested = new(int64)
			*requested = 1
		}
		if requested == nil || *requested >= *granted {
			return false, true
		}
		sooner := metav1.NewTime(until.Add(seconds(*requested - *granted)))
		obj.SetDeletionTimestamp(&sooner)
		obj.SetDeletionGracePeriodSeconds(requested)
		return true, false
	}
	grace := res.Grace(obj, requested)
	until := metav1.NewTime(s.Timestamp().Add(seconds(grace)))
	obj.SetDeletionTimestamp(&until)
	obj.SetDeletionGracePeriodSeconds(&grace)
	bumpGeneration(obj)
	return true, false
}

// markDeleted marks an object without grace period that finalizers hold.
func (s *Store) markDeleted(obj Object) {
	now := s.Timestamp()
	if obj.GetDeletionTimestamp() == nil {
		bumpGeneration(obj)
	}
	if until := obj.GetDeletionTimestamp(); until == nil || until.After(now.Time) {
		obj.SetDeletionTimestamp(&now)
	}
	obj.SetDeletionGracePeriodSeconds(new(int64))
}

func bumpGeneration(obj Object) {
	if obj.GetGeneration() > 0 {
		obj.SetGeneration(obj.GetGeneration() + 1)
	}
}

// collectorFinalizers replaces the garbage collector's finalizers by the finalizer of the policy.
// Without a policy they stay.
func collectorFinalizers(finalizers []string, policy metav1.DeletionPropagation) []string {
	if policy == "" {
		return finalizers
	}
	rest := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool {
		return f == metav1.FinalizerOrphanDependents || f == metav1.FinalizerDeleteDependents
	})
	switch policy {
	case metav1.DeletePropagationOrphan:
		return append(rest, metav1.FinalizerOrphanDependents)
	case metav1.DeletePropagationForeground:
		return append(rest, metav1.FinalizerDeleteDependents)
	}
	return rest
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }
