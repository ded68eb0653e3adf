// Package kind defines the kinds that an API server serves, one file per kind: names and scope,
// defaults, admission, validation on create and update, deletion, field selectors, columns and
// warnings. [NewStore] makes a store with these rules.
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

// Kind describes one kind of object in the API.
type Kind struct {
	Group, Version, Name string
	// Plural is the resource's name. Default: the plural of Name in lower case.
	Plural string
	// ShortNames and Categories are other names of its objects in kubectl.
	ShortNames, Categories []string
	// Aliases are short names in scenarios that kubectl does not have.
	Aliases []string
	// Columns are the columns that kubectl prints. Default: name and creation time.
	Columns []Column
	// Fields read the labels of field selectors that the kind supports besides name and namespace.
	// Default: none.
	Fields map[string]func(obj store.Object) string
	// UnknownField is the error for an unsupported label, if the kind has Fields. Default: "field
	// label not supported: %s".
	UnknownField string
	// Warnings returns the warnings for an accepted object. old is the replaced object, nil for a
	// new one.
	Warnings func(obj, old store.Object) []string
	// Forms are the other groups and versions that serve the kind. Default: none.
	Forms []Form
	// Deprecated is the warning for clients that use the kind.
	Deprecated string
	// Scale is set for a kind with a scale subresource.
	Scale *Scale
	// Subresources are the subresources besides status and scale.
	Subresources []Subresource
	// Without lists verbs that are not served.
	Without []string
	// AnswersDeleted means that a deletion returns the object's last state, not a Status.
	AnswersDeleted bool
	// Undeletable are the names of objects that cannot be deleted.
	Undeletable []string
	// UndeletableBecause is the reason of the refusal; empty for "this KIND may not be deleted".
	UndeletableBecause string
	// OrphansDependents means that a deletion without a policy leaves the dependents, which is the
	// historical default of the oldest controllers.
	OrphansDependents bool

	// fresh makes an empty object; nil uses a type of client-go's scheme.
	fresh  func() store.Object
	traits trait
	rules  ruler   // nil for a kind without its own rules
	custom *custom // nil for built-in kinds

	// The parts of the rules that are not in the store's strategy; each may be nil.
	quota   *counter
	limit   func(cluster store.Reader, obj, old store.Object) error
	observe func(c *cluster, obj, old store.Object)
}

// trait is a behaviour of the API server that several kinds have.
type trait int

const (
	clusterScoped trait = 1 << iota
	withStatus
	withGeneration
	conditional // updates must name a resourceVersion
	anyFinalizer
	qualified // its plural name without a group means another kind

	// ofDefinition are the traits of all custom kinds.
	ofDefinition = withGeneration | conditional | anyFinalizer
)

// register adds a kind. The file of the kind calls it while the program initializes.
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

// complete gives a resource the names, traits and rules of the kind.
func (k *Kind) complete(res *store.Resource) {
	if k.rules != nil {
		k.rules.enter(res, k)
	}
	res.Kind, res.Generation, res.AnyFinalizer, res.Conditional = k, k.is(withGeneration), k.is(anyFinalizer), k.is(conditional)
}

func (k *Kind) is(t trait) bool { return k.traits&t != 0 }

// Of returns the kind of a resource.
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
		panic(err) // the kind's file names a type that does not exist
	}
	return obj.(store.Object)
}

// resourceOf returns the resource of a Go type.
func resourceOf[T store.Object]() *store.Resource {
	var none T
	res, err := store.ResourceOf(none)
	if err != nil {
		panic(err)
	}
	return res
}
