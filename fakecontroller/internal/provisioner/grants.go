package provisioner

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// grantKind is the kind that lets other namespaces refer to the objects of a namespace. The
// cluster's users define it.
var grantKind = schema.GroupVersionKind{
	Group: "gateway.networking.k8s.io", Version: "v1beta1", Kind: "ReferenceGrant",
}

// referenceGrant is the relevant part of a ReferenceGrant.
type referenceGrant struct {
	Spec struct {
		From []grantFrom `json:"from"`
		To   []grantTo   `json:"to"`
	} `json:"spec"`
}

type grantFrom struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
}

type grantTo struct {
	Group string `json:"group"`
	Kind  string `json:"kind"`
	Name  string `json:"name"` // empty for all
}

// allows reports whether claims of a namespace may have the source. [pkg/controller/util.go:
// IsGranted]
func (g *referenceGrant) allows(namespace string, source dataSource) bool {
	from := grantFrom{Kind: claimKind, Namespace: namespace}
	return slices.Contains(g.Spec.From, from) && slices.ContainsFunc(g.Spec.To, func(to grantTo) bool {
		return to.Group == source.group && to.Kind == source.kind &&
			(to.Name == "" || to.Name == source.key.Name)
	})
}

// checkGrants returns an error unless a ReferenceGrant in the source's namespace lets the claim use
// the source. C-PROV-42
func (c *Provisioner) checkGrants(pvc claim, source dataSource) error {
	if res, defined := c.Store.ResourceFor(grantKind); defined {
		for found := range c.Cache.ListObjects(res, source.key.Namespace) {
			var grant referenceGrant
			object := found.(*unstructured.Unstructured).Object
			err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &grant)
			if err == nil && grant.allows(pvc.Namespace, source) {
				return nil
			}
		}
	}
	return fmt.Errorf("accessing %s of %s dataSource from %s isn't allowed", source.key, source.kind, store.KeyOf(pvc))
}

// grantPoll is the interval between checks for the definition of grants.
const grantPoll = 5 * time.Second

// awaitGrants waits until the kind of grants is defined. An informer of a kind without a definition
// never syncs, and no claim is processed before. C-PROV-42
func (c *Provisioner) awaitGrants(p *kernel.Process) {
	for c.options.CrossNamespaceVolumeDataSource {
		if _, defined := c.Store.ResourceFor(grantKind); defined {
			return
		}
		p.Idle(grantPoll)
	}
}
