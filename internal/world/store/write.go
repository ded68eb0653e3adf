package store

import (
	"iter"
)

// Create stores a new object. The caller keeps obj; what is returned is stored
// and must not be changed. Errors are those of the API server.
func Create[T Object](s *Store, obj T) (T, error) {
	return as[T](s.CreateObject(resourceFor[T](), obj))
}

// Adopt is Create for an object that the caller hands over: it becomes the stored
// one.
func Adopt[T Object](s *Store, obj T) (T, error) {
	return as[T](s.create(resourceFor[T](), obj))
}

// Update replaces an object but for its status, if its kind has the status
// subresource, by obj, which the caller hands over. It is a Conflict if obj names a
// resource version or uid that is not the stored one.
func Update[T Object](s *Store, obj T) (T, error) {
	return as[T](s.UpdateObject(resourceFor[T](), obj))
}

// UpdateStatus replaces the status of an object and, where the kind allows it,
// its metadata by those of obj, which the caller hands over; the spec stays.
func UpdateStatus[T Object](s *Store, obj T) (T, error) {
	return as[T](s.UpdateStatusObject(resourceFor[T](), obj))
}

// Modify changes a copy of the stored object, but for a status that an update leaves
// alone, and stores it as Update would. It is a patch: nothing can come between reading
// and writing.
func Modify[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.ModifyObject(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// ModifyMetadata is Modify for changes of labels, annotations, finalizers and owners
// only.
func ModifyMetadata[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.modifyMetadata(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// ModifyStatus changes a copy of the stored object, but for its spec, and stores it
// as UpdateStatus would. K-API-1: kubelets patch labels and annotations of nodes this way, too.
func ModifyStatus[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.ModifyStatusObject(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// SetStatus is ModifyStatus for a change that sets fields: what is in lists and maps or behind pointers must stay as it is, in the
// metadata, too.
func SetStatus[T Object](s *Store, key Key, change func(T)) (T, error) {
	return as[T](s.setStatus(resourceFor[T](), key, func(obj Object) { change(obj.(T)) }))
}

// Delete removes an object, or marks it as being deleted if a grace period or
// finalizers hold it. It returns the last state.
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

// GetObject is Get for callers that know the resource only at run time.
func (s *Store) GetObject(res *Resource, key Key) (Object, bool) { return s.head.GetObject(res, key) }

// ListObjects is List for callers that know the resource only at run time.
func (s *Store) ListObjects(res *Resource, namespace string) iter.Seq[Object] {
	return s.head.ListObjects(res, namespace)
}

// IndexedObjects is Indexed for callers that know the resource only at run time.
func (s *Store) IndexedObjects(res *Resource, index Index, value string) iter.Seq[Object] {
	return s.head.IndexedObjects(res, index, value)
}
