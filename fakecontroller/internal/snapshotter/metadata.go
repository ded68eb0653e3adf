package snapshotter

import (
	"slices"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// annotate sets an annotation of a content of either kind, or removes it. keep gets the result.
func annotate[T store.Object](p *kernel.Process, r *run, c T, annotation string, on bool, keep func(T)) (T, error) {
	if _, is := c.GetAnnotations()[annotation]; is == on {
		return c, nil
	}
	changed, err := component.Patch(p, r.Component, store.KeyOf(c), func(c T) {
		all := c.GetAnnotations()
		if !on {
			delete(all, annotation)
			return
		}
		if all == nil {
			all = map[string]string{}
		}
		all[annotation] = "yes"
		c.SetAnnotations(all)
	})
	if err != nil {
		return c, failedToUpdate(c.GetName(), err)
	}
	keep(changed)
	return changed, nil
}

// release removes a finalizer of a content of either kind. keep gets the result.
func release[T store.Object](p *kernel.Process, r *run, c T, finalizer string, keep func(T)) error {
	if !slices.Contains(c.GetFinalizers(), finalizer) {
		return nil
	}
	freed, err := component.Patch(p, r.Component, store.KeyOf(c), func(c T) {
		c.SetFinalizers(volume.WithoutFinalizers(c.GetFinalizers(), finalizer))
	})
	if err != nil {
		return failedToUpdate(c.GetName(), err)
	}
	keep(freed)
	return nil
}
