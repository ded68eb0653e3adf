package apiserver

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// servedKind is one resource in one version, as the server serves it.
type servedKind struct {
	res          *store.Resource
	gvr          schema.GroupVersionResource
	gvk          schema.GroupVersionKind
	singular     string
	shortNames   []string
	categories   []string
	verbs        []string
	subresources []kind.Subresource
	// answersDeleted means that a deletion returns the object's last state, not a Status.
	answersDeleted bool
	// form is set if the kind is a converted form of the stored kind.
	form *kind.Form
	// hasStatus means that writes of the object do not change its status.
	hasStatus bool
	// warning is the warning of a deprecated version.
	warning string
	// custom is set for a kind that a definition adds.
	custom *customKind
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

func singularOf(kind string) string { return strings.ToLower(kind) }

func (k *servedKind) allows(verb string) bool { return slices.Contains(k.verbs, verb) }

// newObject returns an empty object of the kind in its served version.
func (k *servedKind) newObject() store.Object {
	switch {
	case k.custom != nil:
		return k.custom.new()
	case k.form != nil:
		return k.form.New()
	}
	return k.res.New()
}

func (k *servedKind) subresource(name string) (kind.Subresource, bool) {
	for _, s := range k.subresources {
		if s.Name == name {
			return s, true
		}
	}
	return kind.Subresource{}, false
}

// internalName returns the name of the group's internal package in the real server.
func (k *servedKind) internalName() string {
	name, _, _ := strings.Cut(k.gvk.Group, ".")
	return cmp.Or(name, "core")
}

// catalog lists the served kinds. A catalog never changes: a new definition makes a new catalog.
type catalog struct {
	kinds []*servedKind // by group, version and name
}

// builtIn returns the kinds that every store has. They are the same for all servers.
var builtIn = sync.OnceValue(func() []*servedKind {
	var kinds []*servedKind
	for _, res := range store.Resources() {
		k := kindOf(res)
		kinds = append(kinds, k)
		for _, form := range kind.Of(res).Forms {
			other := *k
			other.gvk, other.gvr, other.warning = form.WithKind(k.gvk.Kind), form.WithResource(k.gvr.Resource), form.Deprecated
			other.form = &form
			kinds = append(kinds, &other)
		}
	}
	return kinds
})

// catalogOf returns the kinds of a store: the built-in kinds, the kinds of csi.storage.k8s.io if
// old is set, and the kinds of definitions. It reuses the kinds of an unchanged definition from the
// previous catalog.
func catalogOf(s *store.Store, old bool, before *catalog) *catalog {
	c := &catalog{kinds: slices.Clone(builtIn())}
	if !old {
		c.kinds = slices.DeleteFunc(c.kinds, func(k *servedKind) bool { return k.gvk.GroupVersion() == legacy.GroupVersion })
	}
	for _, res := range s.Resources() {
		if d := kind.DefinitionOf(res); d != nil {
			c.kinds = append(c.kinds, before.customKinds(res, d)...)
		}
	}
	slices.SortFunc(c.kinds, func(a, b *servedKind) int {
		return cmp.Or(compareGroups(a.gvr.Group, b.gvr.Group), -version.CompareKubeAwareVersionStrings(a.gvr.Version, b.gvr.Version),
			cmp.Compare(a.gvr.Resource, b.gvr.Resource))
	})
	return c
}

func kindOf(res *store.Resource) *servedKind {
	of := kind.Of(res)
	k := &servedKind{
		res: res, gvr: res.GVR, gvk: res.GVK,
		singular: singularOf(res.GVK.Kind), shortNames: of.ShortNames, categories: of.Categories,
		subresources: of.Subresources, answersDeleted: of.AnswersDeleted, hasStatus: res.Status, warning: of.Deprecated,
	}
	for _, verb := range allVerbs {
		if !slices.Contains(of.Without, verb) {
			k.verbs = append(k.verbs, verb)
		}
	}
	if of.Scale != nil {
		k.subresources = append(slices.Clone(k.subresources), kind.Subresource{Name: "scale", Verbs: kind.PartVerbs, GVK: kind.ScaleKind})
	}
	if res.Status {
		k.subresources = append(slices.Clone(k.subresources), kind.Subresource{Name: "status", Verbs: kind.PartVerbs})
	}
	slices.SortFunc(k.subresources, func(a, b kind.Subresource) int { return cmp.Compare(a.Name, b.Name) })
	return k
}

// groupOrder is the order in which the real server lists its groups. Others follow.
var groupOrder = []string{
	"", "apiregistration.k8s.io", "apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io", "autoscaling",
	"batch", "certificates.k8s.io", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "storage.k8s.io",
	"admissionregistration.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io",
	"discovery.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io",
}

func compareGroups(a, b string) int {
	rank := func(group string) int {
		if at := slices.Index(groupOrder, group); at >= 0 {
			return at
		}
		return len(groupOrder)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

// has reports whether the catalog still has the kind unchanged.
func (c *catalog) has(k *servedKind) bool {
	return k.custom == nil || slices.ContainsFunc(c.kinds, func(now *servedKind) bool { return now.custom != nil && now.custom.version == k.custom.version })
}

// hasGroup reports whether the group has any kind.
func (c *catalog) hasGroup(group string) bool {
	return slices.ContainsFunc(c.kinds, func(k *servedKind) bool { return k.gvk.Group == group }) ||
		slices.ContainsFunc(storelessGroups, func(gv schema.GroupVersion) bool { return gv.Group == group })
}

// find returns the kind of a path.
func (c *catalog) find(info requestInfo) (*servedKind, bool) {
	for _, k := range c.kinds {
		if k.gvr.Group != info.apiGroup || k.gvr.Version != info.apiVersion || k.gvr.Resource != info.resource {
			continue
		}
		if !k.res.Namespaced && info.namespace != "" {
			return nil, false
		}
		if _, ok := k.subresource(info.subresource); info.subresource != "" && !ok {
			return nil, false
		}
		return k, true
	}
	return nil, false
}
