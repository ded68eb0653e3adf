package garbagecollector

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/store"
)

// identity names an object of any kind.
type identity struct {
	resource *store.Resource
	key      store.Key
}

// graph holds the dependents of each owner, by the owner's uid.
type graph map[types.UID]map[identity]bool

// replace notes changes of an object's owners. Either list may be nil.
func (g graph) replace(id identity, old, owners []metav1.OwnerReference) {
	if slices.EqualFunc(old, owners, sameUID) {
		return
	}
	for _, o := range old {
		delete(g[o.UID], id)
		if len(g[o.UID]) == 0 {
			delete(g, o.UID)
		}
	}
	for _, o := range owners {
		if g[o.UID] == nil {
			g[o.UID] = map[identity]bool{}
		}
		g[o.UID][id] = true
	}
}

func sameUID(a, b metav1.OwnerReference) bool { return a.UID == b.UID }

// dependents returns the objects of an owner, in the order of their names.
func (g graph) dependents(owner types.UID) []identity {
	return slices.SortedFunc(maps.Keys(g[owner]), func(a, b identity) int {
		return cmp.Or(
			cmp.Compare(a.resource.String(), b.resource.String()),
			cmp.Compare(a.key.Namespace, b.key.Namespace),
			cmp.Compare(a.key.Name, b.key.Name),
		)
	})
}
