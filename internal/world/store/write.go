package store

import (
	"iter"
)

// Create stores a new object. The caller keeps obj; the returned object is the stored one and must
// not be modified. Errors have the form of the API server's errors.
func Create[T Object](s *Store, obj T) (T, error) {
	return as[T](s.CreateObject(resourceFor[T](), obj))
}

// Adopt is Create, but it takes ownership of obj, which becomes the stored object.
func Adopt[T Object](s *Store, obj T) (T, error) {
	return as[T](s.create(resourceFor[T](), obj))
}

// Update replaces an object by obj, except its status if its kind has the status subresource. It
// takes ownership of obj. It returns a Conflict if obj has another resource version or uid than the
// stored one.
func Update[T Object](s *Store, obj T) (T, error) {
	return as[T](s.UpdateObject(resourceFor[T](), obj))
}

// UpdateStatus replaces the status of an object and, if the kind permits that, its metadata by
// those of obj. The spec stays. It takes ownership of obj.
func UpdateStatus[T Object](s *Store, obj T) (T, error) {
	return as[T](s.UpdateStatusObject(resourceFor[T](), obj))
}

// Modify changes a copy of the stored object, except a status that an update cannot change, and
// stores it like Update. It is a patch: no other write can happen between the reading and the
// writing.
func Modify[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.ModifyObject(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// ModifyMetadata is Modify for changes of labels, annotations, finalizers and owners
// only.
func ModifyMetadata[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.modifyMetadata(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// ModifyStatus changes a copy of the stored object, except its spec, and stores it like
// UpdateStatus. K-API-1: kubelets also patch labels and annotations of nodes this way.
func ModifyStatus[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.ModifyStatusObject(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// SetStatus is ModifyStatus for a change that only sets fields. It must not modify lists, maps or
// pointed-to values, neither of the object nor of its metadata.
func SetStatus[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.setStatus(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// Delete removes an object, or marks it for deletion if a grace period or finalizers hold it. It
// returns the last state.
func Delete[T Object](s *Store, key Key, opts ...DeleteOption) (T, error) {
	return as[T](s.DeleteObject(resourceFor[T](), key, opts...))
}

func as[T Object](obj Object, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return obj.(T), nil
}

// GetObject is Get for resources that are known only at run time.
func (s *Store) GetObject(res *Resource, key Key) (Object, bool) { return s.head.GetObject(res, key) }

// ListObjects is List for callers that know the resource only at run time.
func (s *Store) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	return s.head.ListObjects(res, namespace)
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (s *Store) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	return s.head.IndexedObjects(res, index, value)
}
