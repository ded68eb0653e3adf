package store

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Strategy is the API server's behaviour for one kind, in addition to the common behaviour. Nil
// functions do nothing.
type Strategy struct {
	// Name checks metadata.name; nil means a DNS subdomain. NameOf returns a check of the name that
	// depends on the object.
	Name   func(name string, prefix bool) []string
	NameOf func(obj Object) func(name string, prefix bool) []string
	// AnyFinalizer accepts finalizers without a domain, as in custom kinds.
	AnyFinalizer bool
	// Conditional means that updates must name a resourceVersion.
	Conditional bool
	// MetadataLast means that the metadata of a new object is checked only if the rest is valid.
	MetadataLast bool
	// AllowCreateOnUpdate means that an update of a missing object creates it.
	AllowCreateOnUpdate bool
	// KeepsStatus means that a new object keeps the status with which it is created.
	KeepsStatus bool
	// StatusOnly means that writes of the status do not change labels, annotations, finalizers and
	// owners.
	StatusOnly bool
	// Default sets the defaults of unset fields.
	Default func(obj Object)
	// Admit completes a new object, based on other objects of the cluster, or rejects it.
	Admit func(s *Store, obj Object) error
	// BeginUpdate completes a change before validation, based on other objects of the cluster, or
	// rejects it.
	BeginUpdate func(s *Store, obj, old Object) error
	// AdmitUpdate rejects a valid change because of other objects of the cluster.
	AdmitUpdate func(cluster Reader, obj, old Object) error
	// Room rejects a new object if there are already too many objects.
	Room func(there int, obj Object) error
	// PrepareForUpdate resets, before validation, fields that an update cannot set.
	// PrepareForStatusUpdate does the same for an update of the status.
	PrepareForUpdate       func(obj, old Object)
	PrepareForStatusUpdate func(now metav1.Time, obj, old Object)
	// Validate returns the field errors of new objects. ValidateUpdate returns the field errors of
	// a change to the spec, or of any change if the kind has no spec.
	Validate       func(obj Object) field.ErrorList
	ValidateUpdate func(obj, old Object) field.ErrorList
	// Passes are the checks of an update, in this order, after the common check of its metadata.
	// Default: PassMetadata, PassChange.
	Passes []Pass
	// ReadsAnnotations means that ValidateUpdate reads annotations, too.
	ReadsAnnotations bool
	// ValidateStatus returns the field errors of a change of the status.
	ValidateStatus func(obj, old Object) field.ErrorList
	// Grace returns the grace period of a first deletion in seconds; nil means that the kind has no
	// graceful deletion.
	Grace func(obj Object, requested *int64) int64
	// Terminate begins a deletion and reports whether the object must stay.
	Terminate func(now metav1.Time, obj Object) bool
	// Held reports whether something other than finalizers holds an object under deletion.
	Held func(obj Object) bool
	// TTL is the time for which an object is kept after its last write. Default: no limit.
	TTL time.Duration
	// Share makes a written object share maps with others.
	Share func(s *Shared, obj Object, isNew bool)
	// Compact converts a written object to a compact form, for kinds with very many objects that
	// are rarely read. Default: the object itself is stored.
	Compact func(key Key, obj Object) Compact
	// CopyPart gives obj a separate copy of the spec or the status of old, without reflection.
	// Default: by reflection.
	CopyPart func(obj, old Object, what Part)
}

// Compact is the stored form of an object, small and without loss. It never changes.
type Compact interface {
	// Object recreates the object, given its key.
	Object(key Key) Object
}

// Pass is one of the checks of an update.
type Pass int

const (
	PassMetadata Pass = iota // the changes of the metadata
	PassObject               // the new state, validated like a new object
	PassChange               // the kind's checks of the change
)

var defaultPasses = []Pass{PassMetadata, PassChange}

// Part is the written part: an object or its status subresource.
type Part int

const (
	MainPart Part = iota
	StatusPart
	MetadataPart // written by a client that changes nothing else of the object
	noPart       // a draft that shares everything behind pointers
)

// Write is a validated write. Old is nil if the object is created.
type Write struct {
	Resource *Resource
	Obj, Old Object
	Part     Part
	DryRun   bool
}

// Admission is the part of an API server that checks several objects together. A store without
// admission accepts all writes.
type Admission interface {
	// AdmitNamespace rejects a new object in a missing or terminating namespace.
	AdmitNamespace(res *Resource, obj Object) error
	// Prepare drops the fields that an older release of the API server does not keep.
	Prepare(w Write)
	// Admit rejects a write, or counts it by writing to other objects.
	Admit(w Write) error
	// Settle makes further writes that follow from a write.
	Settle()
}

// admitAll is the admission of a store that has none.
type admitAll struct{}

func (admitAll) AdmitNamespace(*Resource, Object) error { return nil }
func (admitAll) Prepare(Write)                          {}
func (admitAll) Admit(Write) error                      { return nil }
func (admitAll) Settle()                                {}
