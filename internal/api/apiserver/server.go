// Package apiserver serves a store like a Kubernetes API server: it has the REST API that kubectl,
// client-go and unmodified sidecars use.
//
// The store implements the meaning of objects: defaults, validation, finalizers, graceful deletion.
// This package adds HTTP: paths and verbs, forms of an answer, lists and watches with their
// versions, patches, field ownership.
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

// Options configure a server and its access to the store. The zero value serves every client.
type Options struct {
	// Token is a bearer token that requests must have, unless they have a token of a service
	// account. Default: none is needed.
	Token string
	// Exclusive calls use while nothing else reads or writes the store. Default: a lock of the
	// server's own.
	Exclusive func(use func())
	// Nodes provides logs of containers and connections into them. Default: containers have no
	// logs, and connections are refused.
	Nodes Nodes
	// Now is the clock of the store. Default: the real one.
	Now func() time.Time
	// Version is the reported version of Kubernetes. Default: the newest.
	Version func() version.Version
	// WatchPatience bounds the wall time for which a client may leave events of its watch unread,
	// once the buffers between client and server are full. Then the watch is closed, as the real
	// server's watch cache does with a full queue. Default: 10 s.
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
	streams       Streams    // nil if none are served
	authorizer    Authorizer // nil: every client has all permissions
}

// New returns a server for the store. Earlier writes are not in its history: a watch from a version
// before returns Expired.
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

// learn processes a write of the store.
func (s *Server) learn(c store.Commit) {
	if isDefinition(c.Resource) {
		s.catalog.Store(catalogOf(s.store, s.options.Legacy, s.kinds()))
	}
	s.encoded.learn(c)
	s.history.add(c)
}

// kinds returns the currently served kinds.
func (s *Server) kinds() *catalog { return s.catalog.Load() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{Request: r, server: s, answer: answer{w: w, media: plainJSON}}
	if err := q.guarded(q.serve); err != nil {
		q.answer.failure(err)
	}
}

// Compact drops all history before now, like the compaction of a real server's database.
func (s *Server) Compact() {
	s.options.Exclusive(func() { s.history.compact(s.store.Revision()) })
}
