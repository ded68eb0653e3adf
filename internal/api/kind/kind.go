// Package kind holds what an API server knows of the kinds that it serves, a file per kind: its names and
// scope, defaults, admission, what it accepts on create and update, deletion, field selectors, columns and
// warnings. [NewStore] makes a store that keeps to it.
package kind

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/world/store"
)

// metadataPath begins the names of fields in field errors of metadata.
var metadataPath = field.NewPath("metadata")

// Kind is what the API knows of one kind of object.
type Kind struct {
	Group, Version, Name string
	// Plural is the resource's name. Default: the plural of Name in small letters.
	Plural string
	// ShortNames and Categories are what kubectl calls its objects, too.
	ShortNames, Categories []string
	// Aliases are short names in scenarios that kubectl does not have.
	Aliases []string
	// Columns are what kubectl shows of its objects. Default: their names and ages.
	Columns []Column
	// Fields read the labels of field selectors that the kind offers besides name and
	// namespace. Default: none.
	Fields map[string]func(obj store.Object) string
	// UnknownField is what a label is answered with that the kind does not offer, if it has
	// Fields. Default: "field label not supported: %s".
	UnknownField string
	// Warnings are what the API server says of an object that it takes. old is what it
	// replaces, nil for a new one.
	Warnings func(obj, old store.Object) []string
	// Forms are the other groups and versions in which the kind is served. Default: none.
	Forms []Form
	// Deprecated is what clients are warned of that use the kind.
	Deprecated string
	// Scale says where replicas are, of a kind that has a scale subresource.
	Scale *Scale
	// Subresources are those besides status and scale.
	Subresources []Subresource
	// Without are verbs that are not served.
	Without []string
	// AnswersDeleted says that the deletion of an object is answered with its last
	// state, not with a Status.
	AnswersDeleted bool
	// Undeletable are the names of objects that nobody may delete.
	Undeletable []string
	// OrphansDependents says that a deletion without a policy leaves the objects that an object
	// owns, as it always was for the oldest controllers.
	OrphansDependents bool

	// fresh makes an empty object; nil means a type of client-go's scheme.
	fresh  func() store.Object
	traits trait
	rules  ruler   // nil for a kind with none of its own
	custom *custom // nil for kinds that are built in

	// What the rules say beyond the strategy of the store; each may be nil.
	quota   *counter
	limit   func(cluster store.Reader, obj, old store.Object) error
	observe func(c *cluster, obj, old store.Object)
}

// trait is what an API server does alike with many kinds.
type trait int

const (
	clusterScoped trait = 1 << iota
	withStatus
	withGeneration
	conditional // updates must name a resourceVersion
	anyFinalizer
	qualified // its plural name without a group means another kind

	// ofDefinition are the traits of all kinds that a CustomResourceDefinition brings.
	ofDefinition = withGeneration | conditional | anyFinalizer
)

// register enters a kind. The file of the kind calls it while the program initializes.
func register(k Kind) *store.Resource {
	gv := schema.GroupVersion{Group: k.Group, Version: k.Version}
	gvk := gv.WithKind(k.Name)
	k.Plural = cmp.Or(k.Plural, pluralOf(k.Name))
	if k.Columns == nil {
		k.Columns = []Column{nameColumn, ageColumn}
	}
	fresh := k.fresh
	if fresh == nil {
		fresh = func() store.Object { return newOf(gvk) }
	}
	res := store.Resource{
		GVK:        gvk,
		GVR:        gv.WithResource(k.Plural),
		Namespaced: !k.is(clusterScoped),
		Status:     k.is(withStatus),
		Qualified:  k.is(qualified),
		New:        fresh,
	}
	k.complete(&res)
	return store.Register(res)
}

// complete makes a resource that of the kind, with its traits and rules.
func (k *Kind) complete(res *store.Resource) {
	if k.rules != nil {
		k.rules.enter(res, k)
	}
	res.Kind, res.Generation, res.AnyFinalizer, res.Conditional = k, k.is(withGeneration), k.is(anyFinalizer), k.is(conditional)
}

func (k *Kind) is(t trait) bool { return k.traits&t != 0 }

// Of is the kind of a resource.
func Of(res *store.Resource) *Kind { return res.Kind.(*Kind) }

func pluralOf(kind string) string {
	lower := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(lower, "s"):
		return lower + "es"
	case strings.HasSuffix(lower, "y"):
		return strings.TrimSuffix(lower, "y") + "ies"
	}
	return lower + "s"
}

func newOf(gvk schema.GroupVersionKind) store.Object {
	obj, err := scheme.Scheme.New(gvk)
	if err != nil {
		panic(err) // the file of the kind names a type that is not there
	}
	return obj.(store.Object)
}

// resourceOf is the resource of a Go type.
func resourceOf[T store.Object]() *store.Resource {
	var none T
	res, err := store.ResourceOf(none)
	if err != nil {
		panic(err)
	}
	return res
}
