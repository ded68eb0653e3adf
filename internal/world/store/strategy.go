package store

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy is what the API server does with one kind beyond what it does with all. Nil
// functions do nothing.
type Strategy struct {
	// Name checks metadata.name; nil means a DNS subdomain. NameOf makes a check that
	// depends on the object.
	Name   func(name string, prefix bool) []string
	NameOf func(obj Object) func(name string, prefix bool) []string
	// AnyFinalizer says that finalizers without a domain are taken, as in kinds that
	// a CustomResourceDefinition brings.
	AnyFinalizer bool
	// Conditional says that updates must name a resourceVersion.
	Conditional bool
	// MetadataLast says that the metadata of a new object is looked at once all else is right.
	MetadataLast bool
	// AllowCreateOnUpdate says that an update of an object that is missing creates it.
	AllowCreateOnUpdate bool
	// KeepsStatus says that a new object keeps the status that it is given.
	KeepsStatus bool
	// StatusOnly says that writes of the status leave labels, annotations,
	// finalizers and owners as they are.
	StatusOnly bool
	// Default sets the defaults of unset fields.
	Default func(obj Object)
	// Admit completes a new object from what the cluster holds, or rejects it.
	Admit func(s *Store, obj Object) error
	// BeginUpdate completes a change from what the cluster holds before it is validated, or rejects it.
	BeginUpdate func(cluster Reader, obj, old Object) error
	// AdmitUpdate rejects a valid change for what the cluster holds.
	AdmitUpdate func(cluster Reader, obj, old Object) error
	// Room rejects one more object where so many are there.
	Room func(there int, obj Object) error
	// PrepareForUpdate settles, before validation, what an update cannot decide,
	// PrepareForStatusUpdate what one of the status cannot.
	PrepareForUpdate       func(obj, old Object)
	PrepareForStatusUpdate func(now metav1.Time, obj, old Object)
	// Validate returns the field errors of a new object, ValidateUpdate of a change of
	// the spec, or of anything if the kind has no spec.
	Validate       func(obj Object) field.ErrorList
	ValidateUpdate func(obj, old Object) field.ErrorList
	// Passes are what an update of the object goes through, in this order, once its
	// metadata has been checked as that of all kinds. Default: PassMetadata, PassChange.
	Passes []Pass
	// ReadsAnnotations says that ValidateUpdate looks at annotations, too.
	ReadsAnnotations bool
	// ValidateStatus returns the field errors of a change of the status.
	ValidateStatus func(obj, old Object) field.ErrorList
	// Grace decides how many seconds a first deletion grants; nil means that the
	// kind has no graceful deletion.
	Grace func(obj Object, requested *int64) int64
	// Terminate begins a deletion and reports whether the object has to stay.
	Terminate func(now metav1.Time, obj Object) bool
	// Held reports whether something beside finalizers holds an object that is being deleted.
	Held func(obj Object) bool
	// TTL is how long an object is kept after its last write. Default: for ever.
	TTL time.Duration
	// Share lets an object that is written have maps in common with others.
	Share func(s *Shared, obj Object, isNew bool)
	// Compact makes of an object that is written what is kept of it: for kinds with very
	// many objects that are hardly ever read. Default: the object is kept.
	Compact func(key Key, obj Object) Compact
	// CopyPart gives obj a copy of its own of the spec of old, or of the status, without
	// reflection. Default: by reflection.
	CopyPart func(obj, old Object, what Part)
}

// Compact is what is kept of an object, in little room and without loss. It never changes.
type Compact interface {
	// Object makes the object again, which is stored under key.
	Object(key Key) Object
}

// Pass is one of the checks that an update goes through.
type Pass int

const (
	PassMetadata Pass = iota // what of the metadata may change, and into what
	PassObject               // the new state, as if it were created
	PassChange               // what the kind says of the change
)

var defaultPasses = []Pass{PassMetadata, PassChange}

// Part is what a write is about: an object or its status subresource.
type Part int

const (
	MainPart Part = iota
	StatusPart
	MetadataPart // of the object, by a client that is known to leave the rest alone
	noPart       // what a draft has of its own that shares all that is behind pointers
)

// Write is a write that has been found valid. Old is nil when the object is created.
type Write struct {
	Resource *Resource
	Obj, Old Object
	Part     Part
	DryRun   bool
}

// Admission is the part of an API server that looks at more than one object. A store
// without one admits all writes.
type Admission interface {
	// AdmitNamespace rejects a new object whose namespace is missing or terminating.
	AdmitNamespace(res *Resource, obj Object) error
	// Admit rejects a write, or counts it, by writes of its own.
	Admit(w Write) error
	// Settle takes the steps that follow from a write, by writes of its own.
	Settle()
}

// admitAll is the admission of a store that has none.
type admitAll struct{}

func (admitAll) AdmitNamespace(*Resource, Object) error { return nil }
func (admitAll) Admit(Write) error                      { return nil }
func (admitAll) Settle()                                {}
