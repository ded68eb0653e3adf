package store

// Validate returns all errors that the API server would report for a new object by the rules of its
// kind, regardless of the store's content. Admission by other objects (a namespace, a quota, a
// priority class) is not checked. The error is the API server's Invalid; nil if the object is
// valid.
func (s *Store) Validate(res *Resource, given Object) error {
	obj := given.DeepCopyObject().(Object)
	obj.GetObjectKind().SetGroupVersionKind(res.GVK)
	if res.Namespaced && obj.GetNamespace() == "" {
		obj.SetNamespace("default")
	}
	s.fillMetadata(res, obj)
	if res.Default != nil {
		res.Default(obj)
	}
	if res.Admit != nil {
		_ = res.Admit(s, obj) // called to complete the object; its error does not count
	}
	if errs := res.validate(obj, writing{}); len(errs) > 0 {
		return res.invalid(obj, errs)
	}
	return nil
}
