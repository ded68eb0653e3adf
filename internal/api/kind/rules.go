package kind

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// rules are the API server's rules for objects of type T, in addition to the common rules. Nil
// functions do nothing. Most fields have the meaning of those in store.Strategy.
type rules[T store.Object] struct {
	name             func(name string, prefix bool) []string
	nameOf           func(obj T) func(name string, prefix bool) []string
	metadataLast     bool
	createdByUpdate  bool
	keepsStatus      bool
	statusOnly       bool
	fill             func(obj T)
	admit            func(a admission, obj T) error
	begin            func(a admission, obj, old T) error
	admitUpdate      func(cluster store.Reader, obj, old T) error
	room             func(there int, obj T) error
	prepare          func(obj, old T)
	prepareStatus    func(now metav1.Time, obj, old T)
	validate         func(obj T) field.ErrorList
	validateUpdate   func(obj, old T) field.ErrorList
	passes           []store.Pass
	readsAnnotations bool
	validateStatus   func(obj, old T) field.ErrorList
	grace            func(obj T, requested *int64) int64
	terminate        func(now metav1.Time, obj T) bool
	held             func(obj T) bool
	indexes          []store.Indexer
	ttl              time.Duration
	compact          func(store.Key, T) store.Compact
	share            func(s *store.Shared, obj T, isNew bool)
	copyPart         func(obj, old store.Object, what store.Part)

	// limit rejects an object that the limit ranges of its namespace do not permit.
	limit func(cluster store.Reader, obj, old T) error
	// quota counts objects in quotas, beyond their number.
	quota *evaluator[T]
	// observe is called for every commit: obj is nil for a removed object, old is nil for a created
	// one.
	observe func(c *cluster, obj, old T)
}

// admission is the input to the admission of a new object, and to the beginning of an update.
type admission struct {
	now     metav1.Time
	cluster store.Reader
	options options
}

// ruler holds the rules of any type.
type ruler interface {
	// enter adds the rules to a resource and its kind.
	enter(res *store.Resource, k *Kind)
}

func (r rules[T]) enter(res *store.Resource, k *Kind) {
	res.Indexes, res.Strategy = r.indexes, r.strategy()
	if r.quota != nil {
		k.quota = r.quota.counter()
	}
	if r.limit != nil {
		k.limit = func(cluster store.Reader, obj, old store.Object) error {
			return r.limit(cluster, typed[T](obj), typed[T](old))
		}
	}
	if r.observe != nil {
		k.observe = func(c *cluster, obj, old store.Object) { r.observe(c, typed[T](obj), typed[T](old)) }
	}
}

func (r rules[T]) strategy() store.Strategy {
	s := store.Strategy{
		Name: r.name, NameOf: from(r.nameOf), MetadataLast: r.metadataLast, AllowCreateOnUpdate: r.createdByUpdate, KeepsStatus: r.keepsStatus, StatusOnly: r.statusOnly,
		Default: on(r.fill), PrepareForUpdate: onBoth(r.prepare),
		Validate: from(r.validate), ValidateUpdate: fromBoth(r.validateUpdate), ValidateStatus: fromBoth(r.validateStatus),
		Passes: r.passes, ReadsAnnotations: r.readsAnnotations, TTL: r.ttl, CopyPart: r.copyPart,
	}
	if r.admit != nil {
		s.Admit = func(s *store.Store, obj store.Object) error {
			return r.admit(admission{s.Timestamp(), s, optionsOf(s)}, typed[T](obj))
		}
	}
	if r.begin != nil {
		s.BeginUpdate = func(s *store.Store, obj, old store.Object) error {
			return r.begin(admission{s.Timestamp(), s, optionsOf(s)}, typed[T](obj), typed[T](old))
		}
	}
	if r.admitUpdate != nil {
		s.AdmitUpdate = func(cluster store.Reader, obj, old store.Object) error {
			return r.admitUpdate(cluster, typed[T](obj), typed[T](old))
		}
	}
	if r.room != nil {
		s.Room = func(there int, obj store.Object) error { return r.room(there, typed[T](obj)) }
	}
	if r.prepareStatus != nil {
		s.PrepareForStatusUpdate = func(now metav1.Time, obj, old store.Object) { r.prepareStatus(now, typed[T](obj), typed[T](old)) }
	}
	if r.grace != nil {
		s.Grace = func(obj store.Object, requested *int64) int64 { return r.grace(typed[T](obj), requested) }
	}
	if r.terminate != nil {
		s.Terminate = func(now metav1.Time, obj store.Object) bool { return r.terminate(now, typed[T](obj)) }
	}
	if r.held != nil {
		s.Held = func(obj store.Object) bool { return r.held(typed[T](obj)) }
	}
	if r.share != nil {
		s.Share = func(s *store.Shared, obj store.Object, isNew bool) { r.share(s, typed[T](obj), isNew) }
	}
	if r.compact != nil {
		s.Compact = func(key store.Key, obj store.Object) store.Compact { return r.compact(key, typed[T](obj)) }
	}
	return s
}
