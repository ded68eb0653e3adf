package component

import (
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The functions below are a component's API client. Each is a point at which another process may
// run first, and waits for the client's rate limit. Each write is one transaction. Returned objects
// are shared and must not be modified. Create does not keep obj; Update and UpdateStatus take
// ownership of it.

// Create creates an object.
func Create[T store.Object](p *kernel.Process, c *Component, obj T) (T, error) {
	request[T](p, c, "create")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "create", store.KeyOf(obj)), func() (T, error) { return store.Create(c.Store, obj) })
	}
	return store.Create(c.Store, obj)
}

// Update writes the main resource; with a stale resourceVersion it conflicts.
func Update[T store.Object](p *kernel.Process, c *Component, obj T) (T, error) {
	request[T](p, c, "update")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "update", store.KeyOf(obj)), func() (T, error) { return store.Update(c.Store, obj) })
	}
	return store.Update(c.Store, obj)
}

// UpdateStatus writes the status subresource; with a stale resourceVersion it conflicts.
func UpdateStatus[T store.Object](p *kernel.Process, c *Component, obj T) (T, error) {
	request[T](p, c, "update status")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "update status", store.KeyOf(obj)), func() (T, error) { return store.UpdateStatus(c.Store, obj) })
	}
	return store.UpdateStatus(c.Store, obj)
}

// Patch changes the main resource regardless of its resourceVersion.
func Patch[T store.Object](p *kernel.Process, c *Component, key store.Key, change func(T)) (T, error) {
	request[T](p, c, "patch")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "patch", key), func() (T, error) { return store.Modify(c.Store, key, change) })
	}
	return store.Modify(c.Store, key, change)
}

// PatchMetadata is Patch for changes of labels, annotations, finalizers and owners
// only.
func PatchMetadata[T store.Object](p *kernel.Process, c *Component, key store.Key, change func(T)) (T, error) {
	request[T](p, c, "patch")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "patch", key), func() (T, error) { return store.ModifyMetadata(c.Store, key, change) })
	}
	return store.ModifyMetadata(c.Store, key, change)
}

// PatchStatus is Patch for the status subresource.
func PatchStatus[T store.Object](p *kernel.Process, c *Component, key store.Key, change func(T)) (T, error) {
	request[T](p, c, "patch status")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "patch status", key), func() (T, error) { return store.ModifyStatus(c.Store, key, change) })
	}
	return store.ModifyStatus(c.Store, key, change)
}

// SetStatus is PatchStatus for a change that only sets fields, and does not modify lists and maps.
func SetStatus[T store.Object](p *kernel.Process, c *Component, key store.Key, change func(T)) (T, error) {
	request[T](p, c, "patch status")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "patch status", key), func() (T, error) { return store.SetStatus(c.Store, key, change) })
	}
	return store.SetStatus(c.Store, key, change)
}

// Delete requests the object's deletion.
func Delete[T store.Object](p *kernel.Process, c *Component, key store.Key, opts ...store.DeleteOption) (T, error) {
	request[T](p, c, "delete")
	if c.Chance != nil {
		return write(p, writeOf[T](c, "delete", key), func() (T, error) { return store.Delete[T](c.Store, key, opts...) })
	}
	return store.Delete[T](c.Store, key, opts...)
}

// Subresource makes a request to a subresource of objects of type T.
func Subresource[T store.Object, Answer any](p *kernel.Process, c *Component, what string, serve func(*store.Store) (Answer, error)) (Answer, error) {
	request[T](p, c, what)
	return serve(c.Store)
}

func writeOf[T store.Object](c *Component, verb string, key store.Key) Write {
	return Write{c, verb, store.GroupResourceOf[T](), key}
}

// Live reads from the API server, past the component's cache. The error is the
// API server's NotFound.
func Live[T store.Object](p *kernel.Process, c *Component, key store.Key) (T, error) {
	request[T](p, c, "get")
	obj, ok := store.Get[T](c.Store, key)
	if !ok {
		return obj, store.NotFound[T](key)
	}
	return obj, nil
}

// Cached reads from the component's informer cache.
func Cached[T store.Object](c *Component, key store.Key) (T, bool) {
	return store.Get[T](c.Cache, key)
}
