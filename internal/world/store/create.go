package store

import (
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxGeneratedBase is how much of generateName is used, so that the suffix fits
// into a label value.
const maxGeneratedBase = 58

// CreateObject is Create for callers that know the resource only at run time.
func (s *Store) CreateObject(res *Resource, given Object, opts ...WriteOption) (Object, error) {
	return s.create(res, given.DeepCopyObject().(Object), opts...)
}

// AdoptObject is Adopt for callers that know the resource only at run time.
func (s *Store) AdoptObject(res *Resource, obj Object) (Object, error) { return s.create(res, obj) }

// create owns obj.
func (s *Store) create(res *Resource, obj Object, opts ...WriteOption) (Object, error) {
	defer s.settle()
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
	if res.fill != nil {
		res.fill(obj)
	}
	if err := w.finished(obj, nil); err != nil {
		return nil, err
	}
	if res.admit != nil {
		if err := res.admit(admission{s.now(), s.head, s.options}, obj); err != nil {
			return nil, err
		}
	}
	if errs := res.mistakes(obj, w); len(errs) > 0 {
		return nil, res.invalid(obj, errs)
	}
	if err := s.checkLimits(res, obj, nil, mainPart); err != nil {
		return nil, err
	}
	if err := s.charge(res, obj, nil, mainPart, w.dry); err != nil {
		return nil, err
	}
	key := KeyOf(obj)
	if there, exists := s.head.GetObject(res, key); exists {
		return nil, res.alreadyExists(named, there)
	}
	if res == pods && len(s.head.objects[pods]) >= MaxPods {
		return nil, res.tooMany(obj.GetName())
	}
	if !w.dry {
		s.commit(res, key, nil, obj)
	}
	return obj, nil
}

// fillMetadata sets what the server decides about a new object.
func (s *Store) fillMetadata(res *Resource, obj Object) {
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		base := obj.GetGenerateName()
		obj.SetName(base[:min(len(base), maxGeneratedBase)] + s.options.Suffix())
	}
	obj.SetUID(s.options.UID(res.GVR.Resource))
	obj.SetCreationTimestamp(s.now())
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
	if res.Generation {
		obj.SetGeneration(1)
	}
	if res.Status && !res.keepsStatus {
		res.shape.clearStatus(obj)
	}
}

func (s *Store) now() metav1.Time {
	return metav1.NewTime(s.options.Now()).Rfc3339Copy()
}

// metadataPath begins the names of fields in mistakes of metadata.
var metadataPath = field.NewPath("metadata")

// mistakes validates a new object.
func (r *Resource) mistakes(obj Object, w writing) field.ErrorList {
	if w.check != nil {
		return w.check(obj, nil)
	}
	errs := r.mistakesOfMetadata(obj)
	if r.validate != nil {
		errs = append(errs, r.validate(obj)...)
	}
	return errs
}

// mistakesOfMetadata validates the metadata of a new object.
func (r *Resource) mistakesOfMetadata(obj Object) (errs field.ErrorList) {
	check := subdomainName
	switch {
	case r.nameOf != nil:
		check = r.nameOf(obj)
	case r.name != nil:
		check = r.name
	}
	if !hasLittleMetadata(obj) || len(check(obj.GetName(), false)) > 0 {
		errs = validation.ValidateObjectMetaAccessor(obj, r.Namespaced, check, metadataPath)
	}
	return append(errs, r.finalizerNames(obj)...)
}

// hasLittleMetadata reports whether nothing but the name and the finalizers of a
// new object needs a check; its namespace exists.
func hasLittleMetadata(obj Object) bool {
	return obj.GetGenerateName() == "" && len(obj.GetLabels()) == 0 && len(obj.GetAnnotations()) == 0 &&
		len(obj.GetOwnerReferences()) == 0 && len(obj.GetManagedFields()) == 0
}
