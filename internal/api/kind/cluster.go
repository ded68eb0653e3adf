package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// Option changes a default of a cluster's API server.
type Option func(*options)

type options struct {
	noServiceAccounts bool
	taintNewNodes     bool
	features          feature.Gates
	release           func() version.Version // nil: the newest
}

// has reports whether the API server behaves as after a change.
func (o options) has(c version.Change) bool { return o.release == nil || o.release().Has(c) }

// NoServiceAccounts leaves the serviceAccountName of pods unchanged. By default a pod without an
// account runs as "default".
func NoServiceAccounts(o *options) { o.noServiceAccounts = true }

// TaintNewNodes gives new nodes the not-ready taint, as the API server does. By default they get no
// taint, since only a node lifecycle controller would remove it.
func TaintNewNodes(o *options) { o.taintNewNodes = true }

// Features sets feature gates of the API server that differ from the defaults.
func Features(gates feature.Gates) Option { return func(o *options) { o.features = gates } }

// Kubernetes sets the release of the API server, which an upgrade may change. By default it is the
// newest.
func Kubernetes(release func() version.Version) Option {
	return func(o *options) { o.release = release }
}

// NewStore returns a store with the namespaces of a new cluster. Its writes pass the admission of
// an API server.
func NewStore(o store.Options, opts ...Option) *store.Store {
	s := store.New(o)
	c := &cluster{store: s}
	for _, opt := range opts {
		opt(&c.options)
	}
	c.definitions.store = s
	s.Admit(c)
	s.OnCommit(c.observe)
	for _, name := range []string{metav1.NamespaceDefault, metav1.NamespaceSystem} {
		if _, err := store.Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			panic(fmt.Errorf("create namespace %s: %w", name, err))
		}
	}
	return s
}

// cluster is the state of a store's API server besides its objects.
type cluster struct {
	store       *store.Store
	options     options
	definitions definitions
	quotas      quotas
	signToken   func(TokenClaims) (string, error) // nil: tokens are not signed
}

// clusterOf returns the API server of a store that NewStore made.
func clusterOf(s *store.Store) *cluster { return s.Admission().(*cluster) }

func optionsOf(s *store.Store) options { return clusterOf(s).options }

// observe passes a commit to the rules of its kind.
func (c *cluster) observe(commit store.Commit) {
	if observe := Of(commit.Resource).observe; observe != nil {
		observe(c, commit.New, commit.Old)
	}
}

// AdmitNamespace implements store.Admission.
func (c *cluster) AdmitNamespace(res *store.Resource, obj store.Object) error {
	return admitNamespace(c.store, res, obj)
}

// Prepare implements store.Admission.
func (c *cluster) Prepare(w store.Write) { c.options.drop(w) }

// Admit implements store.Admission: rules of older releases first, then limit ranges, then quotas.
func (c *cluster) Admit(w store.Write) error {
	if err := c.options.refuse(w); err != nil {
		return err
	}
	if err := checkLimits(c.store, w); err != nil {
		return err
	}
	return c.quotas.charge(c.store, w)
}

// Settle implements store.Admission.
func (c *cluster) Settle() { c.definitions.settle() }
