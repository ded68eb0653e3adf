package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Service is the service of one run. Each machine reaches it at a separate address, which
// distinguishes requests of different programs.
type Service struct {
	options Options
	dir     string // for disks

	lock        sync.Mutex
	collections []*collection
	routes      []compiledRoute
	errors      *expression
	recorded    recording
	endpoints   map[string]*endpoint // endpoints, by the name of the machine
	failures    []standin.Failure
}

// endpoint is the address at which one machine reaches the service.
type endpoint struct {
	service *Service
	node    standin.Node
	number  int64 // counted from 1
	address string
	server  *http.Server
	served  chan error
	watch   *standin.Watch // nil for none
}

// declared returns the machine in the form that expressions use.
func (e *endpoint) declared() map[string]any {
	return map[string]any{"name": e.node.Name, "zone": e.node.Zone, "number": e.number}
}

// New makes a service.
func New(o Options) *Service { return &Service{options: o, endpoints: map[string]*endpoint{}} }

// Start reads the declaration and the recording.
func (s *Service) Start(dir string) (err error) {
	s.dir = dir
	if s.errors, err = compile(s.options.Errors); err != nil {
		return err
	}
	for _, c := range s.options.Collections {
		x, err := c.compile()
		if err != nil {
			return err
		}
		s.collections = append(s.collections, &collection{Collection: c, compiled: x, disks: map[string]*attached{}})
	}
	for _, r := range s.options.Routes {
		x, err := r.compile()
		if err != nil {
			return err
		}
		s.routes = append(s.routes, x)
	}
	if s.options.Recording != "" {
		s.recorded, err = readRecording(s.options.Recording)
	}
	return err
}

// Furnish opens the address of a machine.
func (s *Service) Furnish(n standin.Node) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.endpoints[n.Name] != nil {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	e := &endpoint{service: s, node: n, number: int64(len(s.endpoints) + 1), address: listener.Addr().String(), served: make(chan error, 1)}
	e.server = &http.Server{Handler: e}
	go func() { e.served <- e.server.Serve(listener) }()
	s.endpoints[n.Name] = e
	return s.furnish(e)
}

// furnish declares a machine in collections of nodes, and prepares it for disks.
func (s *Service) furnish(e *endpoint) error {
	devices := false
	for _, c := range s.collections {
		devices = devices || c.Disk != nil && c.Disk.Nodes != ""
		if c.compiled.nodes == nil {
			continue
		}
		t, err := c.compiled.nodes.fields(names{node: e.declared()})
		if err != nil {
			return err
		}
		if _, refused := c.make(t); refused != nil {
			return fmt.Errorf("declare %s in %s: %s", e.node.Name, c.Path, refused.refused)
		}
	}
	if !devices {
		return nil
	}
	return e.node.Furnish(furnishDev)
}

// URL returns the address at which programs of a machine reach the service; empty if the machine is
// not prepared for the service.
func (s *Service) URL(machine string) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	if e := s.endpoints[machine]; e != nil {
		return "http://" + e.address
	}
	return ""
}

// Watch makes a watch receive the requests of a machine's programs from now on.
func (s *Service) Watch(machine string, w *standin.Watch) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if e := s.endpoints[machine]; e != nil {
		e.watch = w
	}
}

// Operations lists the requests that can be made to fail: "GET /volumes".
func (s *Service) Operations() []string {
	var all []string
	for _, c := range s.options.Collections {
		all = append(all, c.operations()...)
	}
	for _, r := range s.options.Routes {
		if !slices.Contains(all, r.operation()) {
			all = append(all, r.operation())
		}
	}
	return all
}

// Fail makes requests fail with an HTTP status, by default 500.
func (s *Service) Fail(f standin.Failure) error {
	if f.Code == 0 {
		f.Code = http.StatusInternalServerError
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.failures = append(s.failures, f)
	return nil
}

// Recover ends all failures.
func (s *Service) Recover() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.failures = nil
	return nil
}

// Stop closes all addresses, and frees the disks.
func (s *Service) Stop() error {
	var errs []error
	for _, e := range s.endpoints {
		if e.watch != nil {
			e.watch.End()
		}
		errs = append(errs, e.server.Close())
		if err := <-e.served; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	s.endpoints = map[string]*endpoint{}
	return errors.Join(append(errs, s.freeDisks())...)
}
