package store

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// scope and traits of a kind in the tables of kinds.
type trait int

const (
	clusterScoped trait = 1 << iota
	withStatus
	withGeneration
	conditional // updates must name a resourceVersion
	anyFinalizer
)

// group enters the kinds of one API group.
func group(name, version string, kinds ...kind) {
	for _, k := range kinds {
		gv := schema.GroupVersion{Group: name, Version: version}
		gvk := gv.WithKind(k.name)
		k.rules.conditional = k.traits&conditional != 0
		k.rules.anyFinalizer = k.traits&anyFinalizer != 0
		Register(Resource{
			GVK:        gvk,
			GVR:        gv.WithResource(k.plural()),
			Namespaced: k.traits&clusterScoped == 0,
			Status:     k.traits&withStatus != 0,
			Generation: k.traits&withGeneration != 0,
			New:        k.constructor(gvk),
			rules:      k.rules,
		})
	}
}

// kind is one line of a table of kinds.
type kind struct {
	name   string
	traits trait
	rules  rules
	// fresh makes an empty object; nil means a type of client-go's scheme.
	fresh func() Object
}

func (k kind) constructor(gvk schema.GroupVersionKind) func() Object {
	if k.fresh != nil {
		return k.fresh
	}
	return func() Object { return newOf(gvk) }
}

func (k kind) plural() string {
	lower := strings.ToLower(k.name)
	switch {
	case lower == "endpoints":
		return lower
	case strings.HasSuffix(lower, "s"):
		return lower + "es"
	case strings.HasSuffix(lower, "y"):
		return strings.TrimSuffix(lower, "y") + "ies"
	}
	return lower + "s"
}

func newOf(gvk schema.GroupVersionKind) Object {
	obj, err := scheme.Scheme.New(gvk)
	must(err)
	return obj.(Object)
}
