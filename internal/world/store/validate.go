package store

// Validate says what the API server would find wrong with a new object by its rules alone, all of it at once,
// whatever else the store holds. What admission refuses because of other objects (a namespace, a quota, a
// priority class) is not asked for. The error is the API server's Invalid; nil if nothing is wrong.
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
		_ = res.Admit(s, obj) // what it completes counts, not what it refuses
	}
	if errs := res.validate(obj, writing{}); len(errs) > 0 {
		return res.invalid(obj, errs)
	}
	return nil
}
