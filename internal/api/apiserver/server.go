// Package apiserver shows a store as a Kubernetes API server shows its own: the
// REST view that kubectl, client-go and unmodified sidecars talk to.
//
// What objects mean is the store's business: defaults, validation, finalizers,
// graceful deletion. Here is what HTTP adds: paths and verbs, forms of an answer,
// lists and watches with their versions, patches, field ownership.
package apiserver

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// Options say how a server is reached and what it shares its store with. The zero
// value serves everybody.
type Options struct {
	// Token is what requests have to bear, unless they bear that of a service account.
	// Empty: none is needed.
	Token string
	// Exclusive runs use while nothing else reads or writes the store. Default: a
	// lock of the server's own.
	Exclusive func(use func())
	// Nodes are asked for logs of containers and for ways into them. Default: containers write
	// nothing, and nobody gets in.
	Nodes Nodes
	// Now is the clock of the store. Default: the real one.
	Now func() time.Time
	// Version is what the server says that it is. Default: the newest.
	Version func() version.Version
	// WatchPatience is how long, in wall time, a client may leave events of its watch unread
	// once what lies between it and the server is full; then the watch is closed, as the real
	// server's watch cache closes one whose queue is full. Default: 10 s.
	WatchPatience time.Duration
	// Legacy serves the kinds of csi.storage.k8s.io/v1alpha1.
	Legacy bool
}

// Server is an http.Handler. It is safe for concurrent use.
type Server struct {
	store         *store.Store
	options       Options
	catalog       atomic.Pointer[catalog]
	history       *history
	encoded       *encodings
	managedFields *managedFields
	streams       Streams    // nil: none are served
	authorizer    Authorizer // nil: everybody may do everything
}

// New returns a server for the store. What was written before counts as history
// that is gone: a watch from such a version is answered with Expired.
func New(s *store.Store, options Options) *Server {
	if options.Exclusive == nil {
		var lock sync.Mutex
		options.Exclusive = func(use func()) {
			lock.Lock()
			defer lock.Unlock()
			use()
		}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Version == nil {
		options.Version = func() version.Version { return version.Newest }
	}
	if options.WatchPatience == 0 {
		options.WatchPatience = 10 * time.Second
	}
	server := &Server{store: s, options: options, history: newHistory(s.Revision()), encoded: newEncodings(), managedFields: newManagedFields(options.Now)}
	server.catalog.Store(catalogOf(s, options.Legacy, &catalog{}))
	s.OnCommit(server.learn)
	kind.SignTokens(s, SignToken)
	return server
}

// learn keeps up with a write.
func (s *Server) learn(c store.Commit) {
	if isDefinition(c.Resource) {
		s.catalog.Store(catalogOf(s.store, s.options.Legacy, s.kinds()))
	}
	s.encoded.learn(c)
	s.history.add(c)
}

// kinds is what is served now.
func (s *Server) kinds() *catalog { return s.catalog.Load() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{Request: r, server: s, answer: answer{w: w, media: plainJSON}}
	if err := q.guarded(q.serve); err != nil {
		q.answer.failure(err)
	}
}

// Compact forgets all history before now, as the compaction of a server's database
// does.
func (s *Server) Compact() {
	s.options.Exclusive(func() { s.history.compact(s.store.Revision()) })
}
