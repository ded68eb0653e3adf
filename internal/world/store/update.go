package store

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// UpdateObject is Update for callers that know the resource only at run time.
func (s *Store) UpdateObject(res *Resource, obj Object, opts ...WriteOption) (Object, error) {
	return s.replace(res, obj, MainPart, opts...)
}

// UpdateStatusObject is UpdateStatus for callers that know the resource only at
// run time.
func (s *Store) UpdateStatusObject(res *Resource, obj Object, opts ...WriteOption) (Object, error) {
	return s.replace(res, obj, StatusPart, opts...)
}

// ModifyObject is Modify for callers that know the resource only at run time.
func (s *Store) ModifyObject(res *Resource, key Key, change func(Object)) (Object, error) {
	return s.patch(res, key, change, MainPart, MainPart)
}

// modifyMetadata is ModifyMetadata for callers that know the resource only at run
// time.
func (s *Store) modifyMetadata(res *Resource, key Key, change func(Object)) (Object, error) {
	return s.patch(res, key, change, MetadataPart, MetadataPart)
}

// ModifyStatusObject is ModifyStatus for callers that know the resource only at
// run time.
func (s *Store) ModifyStatusObject(res *Resource, key Key, change func(Object)) (Object, error) {
	return s.patch(res, key, change, StatusPart, StatusPart)
}

// setStatus is SetStatus for callers that know the resource only at run time.
func (s *Store) setStatus(res *Resource, key Key, change func(Object)) (Object, error) {
	return s.patch(res, key, change, StatusPart, noPart)
}

func (s *Store) replace(res *Resource, given Object, what Part, opts ...WriteOption) (Object, error) {
	key := KeyOf(given)
	old, ok := s.head.GetObject(res, key)
	switch {
	case !ok && res.AllowCreateOnUpdate && what == MainPart:
		given.SetResourceVersion("")
		return s.CreateObject(res, given, opts...)
	case !ok:
		return nil, res.NotFound(key)
	}
	if !writingOf(opts).patch {
		if err := res.CheckUID(key, old, given.GetUID()); err != nil {
			return nil, err
		}
	}
	if given.GetResourceVersion() == "" && res.Conditional {
		return nil, res.unconditional(given)
	}
	return s.put(res, given, old, what, opts...)
}

// patch changes a copy of a stored object; own is the part that the copy does not share with it.
func (s *Store) patch(res *Resource, key Key, change func(Object), what, own Part) (Object, error) {
	old, ok := s.head.GetObject(res, key)
	if !ok {
		return nil, res.NotFound(key)
	}
	obj := res.draft(old, own)
	change(obj)
	return s.put(res, obj, old, what)
}

// draft returns a copy of a stored object. It shares the parts that a write of this part cannot
// change.
func (r *Resource) draft(old Object, what Part) Object {
	switch {
	case what == noPart:
		return shallowCopy(old)
	case what == MetadataPart:
		return withOwnMetadata(old)
	case r.Status:
		if obj, ok := r.shape.draft(old, what); ok {
			return obj
		}
	}
	return old.DeepCopyObject().(Object)
}

// put replaces old by obj and takes ownership of obj.
func (s *Store) put(res *Resource, obj, old Object, what Part, opts ...WriteOption) (Object, error) {
	defer s.admission.Settle()
	w := writingOf(opts)
	key := KeyOf(old)
	if err := res.CheckVersion(key, obj, old); err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(res.GVK)
	res.keepServerFields(obj, old)
	if res.Default != nil {
		res.Default(obj)
	}
	if err := w.finished(obj, old); err != nil {
		return nil, err
	}
	if what == MainPart && res.BeginUpdate != nil {
		if err := res.BeginUpdate(s, obj, old); err != nil {
			return nil, err
		}
	}
	write, sameSpec := Write{res, obj, old, what, w.dry}, true
	switch what {
	case MainPart:
		s.admission.Prepare(write)
		sameSpec = res.prepareMain(obj, old)
	case StatusPart:
		s.prepareStatus(res, obj, old)
		s.admission.Prepare(write)
	}
	sameNames := sameMetadata(obj, old)
	unchanged := sameSpec && sameNames && res.sameRest(obj, old, what)
	if !unchanged {
		var m metadata
		if !sameNames {
			m = res.checkMetadata(obj, old)
		}
		if err := s.check(res, obj, old, what, m, sameSpec && res.sameUnservedStatus(obj, old), w); err != nil {
			return nil, err
		}
		if err := s.admission.Admit(write); err != nil {
			return nil, err
		}
	}
	switch {
	case w.dry && !unchanged:
		return obj, nil
	case res.endsDeletion(obj, old):
		// Clients receive the last state with the previous version, and watches receive one
		// removal.
		s.Commit(res, key, old, nil)
		return obj, nil
	case unchanged:
		return old, nil
	}
	s.Commit(res, key, old, obj)
	return obj, nil
}

// keepServerFields restores fields that no update can change.
func (r *Resource) keepServerFields(obj, old Object) {
	obj.SetResourceVersion(old.GetResourceVersion())
	obj.SetGeneration(old.GetGeneration())
	obj.SetCreationTimestamp(old.GetCreationTimestamp())
	if old.GetDeletionTimestamp() != nil {
		obj.SetDeletionTimestamp(old.GetDeletionTimestamp())
	}
	if old.GetDeletionGracePeriodSeconds() != nil {
		obj.SetDeletionGracePeriodSeconds(old.GetDeletionGracePeriodSeconds())
	}
	obj.SetSelfLink("")
	if obj.GetUID() == "" {
		obj.SetUID(old.GetUID())
	}
}

// prepareMain completes an update of the main resource. It reports whether the spec stays unchanged
// or, for a kind without a spec, whether everything does.
func (r *Resource) prepareMain(obj, old Object) (sameSpec bool) {
	if r.Status {
		r.shape.keepStatus(obj, old)
	}
	if r.PrepareForUpdate != nil {
		r.PrepareForUpdate(obj, old)
	}
	if !r.shape.hasSpec() {
		if r.AnyFinalizer && r.Generation && !sameButMetadata(obj, old) {
			obj.SetGeneration(old.GetGeneration() + 1)
		}
		return Same(obj, old)
	}
	sameSpec = r.shape.sameSpec(obj, old)
	if r.Generation && !sameSpec {
		obj.SetGeneration(old.GetGeneration() + 1)
	}
	return sameSpec
}

// sameButMetadata reports whether two objects of Go types are equal except for their metadata.
func sameButMetadata(obj, old Object) bool {
	alike := shallowCopy(obj)
	*metadataOf(alike) = *metadataOf(old)
	return Same(alike, old)
}

func (s *Store) prepareStatus(res *Resource, obj, old Object) {
	res.shape.keepSpec(obj, old)
	if res.StatusOnly {
		obj.SetLabels(old.GetLabels())
		obj.SetAnnotations(old.GetAnnotations())
		obj.SetFinalizers(old.GetFinalizers())
		obj.SetOwnerReferences(old.GetOwnerReferences())
	}
	if res.PrepareForStatusUpdate != nil {
		res.PrepareForStatusUpdate(s.Timestamp(), obj, old)
	}
}

// sameRest reports whether an update leaves everything except spec and metadata unchanged. With a
// status subresource, the part that is not written already equals the old part.
func (r *Resource) sameRest(obj, old Object, what Part) bool {
	switch {
	case what == MetadataPart:
		return true
	case !r.Status || !r.shape.hasStatus():
		return Same(obj, old)
	case what == StatusPart:
		return r.shape.sameStatus(obj, old)
	}
	return true
}

// sameUnservedStatus reports whether an update leaves a status without a subresource unchanged.
// Such a status is written and checked with the spec. L-OBJ-2
func (r *Resource) sameUnservedStatus(obj, old Object) bool {
	return r.Status || !r.shape.hasStatus() || r.shape.sameStatus(obj, old)
}

// check rejects an update that the API server would reject. same means that the checked part has
// not changed. The real server checks metadata once for all kinds and again in passes of the kind,
// so errors are reported equally often here.
func (s *Store) check(res *Resource, obj, old Object, what Part, m metadata, same bool, w writing) error {
	errs := m.common
	switch {
	case w.check != nil:
		errs = append(errs, w.check(obj, old)...)
	case what == StatusPart:
		errs = append(errs, m.of(PassMetadata)...)
		if res.ValidateStatus != nil {
			errs = append(errs, res.ValidateStatus(obj, old)...)
		}
	default:
		errs = append(errs, res.validateUpdate(obj, old, m, what == MainPart && !same)...)
	}
	if len(errs) > 0 {
		return res.invalid(obj, errs)
	}
	if what != StatusPart && res.AdmitUpdate != nil {
		return res.AdmitUpdate(s.head, obj, old)
	}
	return nil
}

// metadata holds the field errors of an update's metadata: those of all kinds, and those of the
// passes.
type metadata struct {
	differs        bool
	common         field.ErrorList
	changed, whole field.ErrorList
}

func (m metadata) of(p Pass) field.ErrorList {
	switch p {
	case PassMetadata:
		return m.changed
	case PassObject:
		return m.whole
	}
	return nil
}

// checkMetadata checks changed metadata.
func (r *Resource) checkMetadata(obj, old Object) (m metadata) {
	m.differs = true
	if !onlyNames(obj, old) {
		m.changed = validation.ValidateObjectMetaAccessorUpdate(obj, old, metadataPath)
	}
	names := r.checkFinalizers(obj)
	if len(m.changed) == 0 && haveDomains(obj.GetFinalizers(), old.GetFinalizers()) {
		m.changed, m.whole = names, names // the rest is valid
		return m
	}
	m.common = append(validation.ValidateObjectMetaAccessor(obj, r.Namespaced, objectname.PathSegment, metadataPath), m.changed...)
	m.changed, m.whole = append(slices.Clip(m.changed), names...), r.validateMetadata(obj)
	return m
}

// validateUpdate executes the passes of an update. checked means that the spec has changed, too.
func (r *Resource) validateUpdate(obj, old Object, m metadata, checked bool) (errs field.ErrorList) {
	passes := defaultPasses
	if r.Passes != nil {
		passes = r.Passes
	}
	for _, p := range passes {
		errs = append(errs, m.of(p)...)
		switch {
		case p == PassObject && checked && r.Validate != nil:
			errs = append(errs, r.Validate(obj)...)
		case p == PassChange && r.ValidateUpdate != nil && (checked || m.differs && r.ReadsAnnotations):
			errs = append(errs, r.ValidateUpdate(obj, old)...)
		}
	}
	return errs
}

// haveDomains reports whether new finalizers have the usual form with a domain, which needs no
// further check. Earlier ones were checked before.
func haveDomains(finalizers, before []string) bool {
	return !slices.ContainsFunc(finalizers, func(name string) bool {
		return !slices.Contains(before, name) && len(objectname.Qualified(name)) > 0
	})
}

// onlyNames reports whether an update changes no metadata except finalizers, labels and
// annotations, and changes these to valid ones. The rest is unchanged and valid.
func onlyNames(obj, old Object) bool {
	return sameButNames(obj, old) && mayHaveFinalizers(obj, old) &&
		mayHaveLabels(obj.GetLabels(), old.GetLabels()) && mayHaveAnnotations(obj.GetAnnotations(), old.GetAnnotations())
}

// mayHaveLabels reports whether labels are valid. Earlier ones are.
func mayHaveLabels(labels, before map[string]string) bool {
	// In any order: all must be valid.
	for key, value := range labels {
		was, known := before[key]
		if !known && len(objectname.Qualified(key)) > 0 || (!known || value != was) && len(objectname.LabelValue(value)) > 0 {
			return false
		}
	}
	return true
}

// mayHaveAnnotations reports whether the keys of annotations are valid. Earlier ones are.
func mayHaveAnnotations(annotations, before map[string]string) bool {
	// In any order, too.
	for key := range annotations {
		if _, known := before[key]; !known && len(objectname.Qualified(strings.ToLower(key))) > 0 {
			return false
		}
	}
	return validation.ValidateAnnotationsSize(annotations) == nil
}

// sameMetadata reports whether an update changes no metadata that a client can change.
func sameMetadata(obj, old Object) bool {
	return slices.Equal(obj.GetFinalizers(), old.GetFinalizers()) && maps.Equal(obj.GetLabels(), old.GetLabels()) &&
		maps.Equal(obj.GetAnnotations(), old.GetAnnotations()) && sameButNames(obj, old)
}

// sameButNames is sameMetadata without finalizers, labels and annotations.
func sameButNames(obj, old Object) bool {
	return obj.GetName() == old.GetName() &&
		obj.GetNamespace() == old.GetNamespace() &&
		obj.GetUID() == old.GetUID() &&
		(obj.GetDeletionTimestamp() == nil) == (old.GetDeletionTimestamp() == nil) &&
		(obj.GetDeletionGracePeriodSeconds() == nil) == (old.GetDeletionGracePeriodSeconds() == nil) &&
		slices.EqualFunc(obj.GetOwnerReferences(), old.GetOwnerReferences(), sameOwner) &&
		slices.EqualFunc(obj.GetManagedFields(), old.GetManagedFields(), sameEntry)
}

// mayHaveFinalizers rejects new finalizers for an object that is being deleted.
func mayHaveFinalizers(obj, old Object) bool {
	isNew := func(name string) bool { return !slices.Contains(old.GetFinalizers(), name) }
	return old.GetDeletionTimestamp() == nil || !slices.ContainsFunc(obj.GetFinalizers(), isNew)
}

func sameOwner(a, b metav1.OwnerReference) bool { return Same(&a, &b) }

func sameEntry(a, b metav1.ManagedFieldsEntry) bool { return Same(&a, &b) }

// CheckVersion rejects an update if its version differs from the stored one. "0" counts as none.
func (r *Resource) CheckVersion(key Key, obj, old Object) error {
	version := obj.GetResourceVersion()
	if version == "" || version == "0" || version == old.GetResourceVersion() {
		return nil
	}
	if _, err := strconv.ParseUint(version, 10, 64); err != nil {
		return err
	}
	return r.conflict(key, errModified)
}

// CheckUID rejects an update with another uid.
func (r *Resource) CheckUID(key Key, old Object, uid types.UID) error {
	if uid == "" || uid == old.GetUID() {
		return nil
	}
	return r.failedPrecondition(key, "UID", string(uid), string(old.GetUID()))
}

// CheckGivenVersion rejects a change with another version.
func (r *Resource) CheckGivenVersion(key Key, old Object, version string) error {
	if version == "" || version == old.GetResourceVersion() {
		return nil
	}
	return r.failedPrecondition(key, "ResourceVersion", version, old.GetResourceVersion())
}

func (r *Resource) failedPrecondition(key Key, what, given, stored string) error {
	path := "/registry/" + r.GVR.Resource + "/" + key.String()
	return r.conflict(key, fmt.Errorf("StorageError: invalid object, Code: 4, Key: %s, ResourceVersion: 0, "+
		"AdditionalErrorMsg: Precondition failed: %[2]s in precondition: %[3]s, %[2]s in object meta: %[4]s", path, what, given, stored))
}

// endsDeletion reports whether an update removes the last finalizer or hold of an object under
// deletion.
func (r *Resource) endsDeletion(obj, old Object) bool {
	if len(obj.GetFinalizers()) > 0 || old.GetDeletionTimestamp() == nil || r.Held != nil && r.Held(obj) {
		return false
	}
	grace := old.GetDeletionGracePeriodSeconds()
	return grace == nil || *grace == 0
}
