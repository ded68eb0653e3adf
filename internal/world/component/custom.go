package component

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The functions below are the API client for kinds that are known only at run time, such as custom
// kinds.

// CreateObject is Create.
func CreateObject(p *kernel.Process, c *Component, res *store.Resource, obj store.Object) (store.Object, error) {
	ask(p, c, res, "create")
	if c.Chance != nil {
		return write(p, Write{c, "create", res.GVR.GroupResource(), store.KeyOf(obj)}, func() (store.Object, error) { return c.Store.CreateObject(res, obj) })
	}
	return c.Store.CreateObject(res, obj)
}

// UpdateObject is Update.
func UpdateObject(p *kernel.Process, c *Component, res *store.Resource, obj store.Object) (store.Object, error) {
	ask(p, c, res, "update")
	if c.Chance != nil {
		return write(p, Write{c, "update", res.GVR.GroupResource(), store.KeyOf(obj)}, func() (store.Object, error) { return c.Store.UpdateObject(res, obj) })
	}
	return c.Store.UpdateObject(res, obj)
}

// UpdateStatusObject is UpdateStatus.
func UpdateStatusObject(p *kernel.Process, c *Component, res *store.Resource, obj store.Object) (store.Object, error) {
	ask(p, c, res, "update status")
	if c.Chance != nil {
		return write(p, Write{c, "update status", res.GVR.GroupResource(), store.KeyOf(obj)}, func() (store.Object, error) { return c.Store.UpdateStatusObject(res, obj) })
	}
	return c.Store.UpdateStatusObject(res, obj)
}

// DeleteObject is Delete.
func DeleteObject(p *kernel.Process, c *Component, res *store.Resource, key store.Key, opts ...store.DeleteOption) error {
	ask(p, c, res, "delete")
	do := func() (store.Object, error) { return c.Store.DeleteObject(res, key, opts...) }
	var err error
	if c.Chance != nil {
		_, err = write(p, Write{c, "delete", res.GVR.GroupResource(), key}, do)
	} else {
		_, err = do()
	}
	return err
}

// LiveObject is Live.
func LiveObject(p *kernel.Process, c *Component, res *store.Resource, key store.Key) (store.Object, bool) {
	ask(p, c, res, "get")
	return c.Store.GetObject(res, key)
}

// WatchObjects is Watch.
func WatchObjects(c *Component, p *kernel.Process, res *store.Resource, sel ...store.Selector) *store.Watcher[store.Object] {
	c.awaitSync(p)
	w := c.Cache.WatchObjects(res, sel...)
	w.OnEvent(p.Wake)
	return w
}

// ReviewToken creates a TokenReview, which changes nothing.
func ReviewToken(p *kernel.Process, c *Component) {
	requestOf(p, c, schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"}, "review a token")
}

func ask(p *kernel.Process, c *Component, res *store.Resource, what string) {
	requestOf(p, c, res.GVR.GroupResource(), what)
}
