package component

import (
	"strconv"

	"github.com/csisim/csisim/internal/world/store"
)

// Overlay is a component's informer cache of one kind with additional objects on top: results of
// its writes, or decisions that are not written yet. Such an object is used until the cache has a
// newer version, or another object with that name. C-PV-2, C-SCHED-7
type Overlay[T store.Object] struct {
	component *Component
	own       map[store.Key]T
}

// NewOverlay returns an overlay with nothing on top of the cache.
func NewOverlay[T store.Object](c *Component) *Overlay[T] {
	return &Overlay[T]{component: c, own: map[store.Key]T{}}
}

// Get returns the newest version of an object in the component's cache.
func (o *Overlay[T]) Get(key store.Key) (T, bool) {
	cached, ok := Cached[T](o.component, key)
	if !ok {
		delete(o.own, key)
		return cached, false
	}
	return o.Newest(cached), true
}

// Newest returns the newest version of a cached object.
func (o *Overlay[T]) Newest(cached T) T {
	key := store.KeyOf(cached)
	own, ok := o.own[key]
	if !ok {
		return cached
	}
	if own.GetUID() != cached.GetUID() || Version(cached) > Version(own) {
		delete(o.own, key)
		return cached
	}
	return own
}

// Put adds an object on top of the cache, unless the cache already has it.
func (o *Overlay[T]) Put(obj T) {
	key := store.KeyOf(obj)
	if cached, ok := Cached[T](o.component, key); ok && store.Object(cached) == store.Object(obj) {
		delete(o.own, key)
	} else {
		o.own[key] = obj
	}
}

// Drop removes an object from the overlay.
func (o *Overlay[T]) Drop(key store.Key) { delete(o.own, key) }

// Version returns an object's resource version as a number; 0 if there is none.
func Version(obj store.Object) uint64 {
	n, err := strconv.ParseUint(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
