package store

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// maxGeneratedBase is the number of characters of generateName that are used, so that the name with
// its suffix fits into a label value.
const maxGeneratedBase = 58

// CreateObject is Create for callers that know the resource only at run time.
func (s *Store) CreateObject(res *Resource, given Object, opts ...WriteOption) (Object, error) {
	return s.create(res, given.DeepCopyObject().(Object), opts...)
}

// AdoptObject is Adopt for callers that know the resource only at run time.
func (s *Store) AdoptObject(res *Resource, obj Object) (Object, error) { return s.create(res, obj) }

// create owns obj.
func (s *Store) create(res *Resource, obj Object, opts ...WriteOption) (Object, error) {
	defer s.admission.Settle()
	w := writingOf(opts)
	if version := obj.GetResourceVersion(); version != "" && version != "0" {
		return nil, errVersionAtCreate
	}
	obj.SetResourceVersion("")
	obj.GetObjectKind().SetGroupVersionKind(res.GVK)
	if err := s.settleNamespace(res, obj); err != nil {
		return nil, err
	}
	named := obj.GetName() != ""
	s.fillMetadata(res, obj)
	if res.Default != nil {
		res.Default(obj)
	}
	if err := w.finished(obj, nil); err != nil {
		return nil, err
	}
	write := Write{Resource: res, Obj: obj, Part: MainPart, DryRun: w.dry}
	s.admission.Prepare(write)
	if res.Admit != nil {
		if err := res.Admit(s, obj); err != nil {
			return nil, err
		}
	}
	if errs := res.validate(obj, w); len(errs) > 0 {
		return nil, res.invalid(obj, errs)
	}
	if err := s.admission.Admit(write); err != nil {
		return nil, err
	}
	key := KeyOf(obj)
	if there, exists := s.head.GetObject(res, key); exists {
		return nil, res.alreadyExists(named, there)
	}
	if res.Room != nil {
		if err := res.Room(s.head.count(res), obj); err != nil {
			return nil, err
		}
	}
	if !w.dry {
		s.Commit(res, key, nil, obj)
	}
	return obj, nil
}

// fillMetadata sets the metadata that the server assigns to a new object.
func (s *Store) fillMetadata(res *Resource, obj Object) {
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		base := obj.GetGenerateName()
		obj.SetName(base[:min(len(base), maxGeneratedBase)] + s.options.Suffix())
	}
	obj.SetUID(s.options.UID(res.GVR.Resource))
	obj.SetCreationTimestamp(s.Timestamp())
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	if res.Generation {
		obj.SetGeneration(1)
	}
	if res.Status && !res.KeepsStatus {
		res.shape.clearStatus(obj)
	}
}

// settleNamespace puts an object without a namespace into "default", and rejects namespaces that
// are missing or being deleted.
func (s *Store) settleNamespace(res *Resource, obj Object) error {
	if !res.Namespaced {
		obj.SetNamespace("")
		return nil
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	return s.admission.AdmitNamespace(res, obj)
}

// Timestamp returns the store's time in the form of objects: in whole seconds.
func (s *Store) Timestamp() metav1.Time {
	return metav1.NewTime(s.options.Now().UTC().Truncate(time.Second))
}

// metadataPath begins the names of fields in field errors of metadata.
var metadataPath = field.NewPath("metadata")

// validate validates a new object.
func (r *Resource) validate(obj Object, w writing) field.ErrorList {
	if w.check != nil {
		return w.check(obj, nil)
	}
	var errs field.ErrorList
	if r.Validate != nil {
		errs = r.Validate(obj)
	}
	if r.MetadataLast && len(errs) > 0 {
		return errs
	}
	return append(r.validateMetadata(obj), errs...)
}

// validateMetadata validates the metadata of a new object.
func (r *Resource) validateMetadata(obj Object) (errs field.ErrorList) {
	check := objectname.Subdomain
	switch {
	case r.NameOf != nil:
		check = r.NameOf(obj)
	case r.Name != nil:
		check = r.Name
	}
	if !hasLittleMetadata(obj) || obj.GetName() == "" || len(check(obj.GetName(), false)) > 0 {
		errs = validation.ValidateObjectMetaAccessor(obj, r.Namespaced, check, metadataPath)
	}
	return append(errs, r.checkFinalizers(obj)...)
}

// hasLittleMetadata reports whether a new object has no metadata to validate besides its name. Its
// namespace already exists.
func hasLittleMetadata(obj Object) bool {
	return !slices.ContainsFunc(obj.GetFinalizers(), isOdd) && obj.GetGenerateName() == "" && mayHaveLabels(obj.GetLabels(), nil) && mayHaveAnnotations(obj.GetAnnotations(), nil) &&
		len(validation.ValidateOwnerReferences(obj.GetOwnerReferences(), metadataPath)) == 0 && len(obj.GetManagedFields()) == 0
}
