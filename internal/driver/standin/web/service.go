package web

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Service is the service of one run. Each machine reaches it at a separate address, which
// distinguishes requests of different programs.
type Service struct {
	options Options

	lock        sync.Mutex
	collections []*collection
	recorded    recording
	endpoints   map[string]*endpoint // by the name of the machine
	failures    []standin.Failure
}

// endpoint is the address at which one machine reaches the service.
type endpoint struct {
	service *Service
	address string
	server  *http.Server
	served  chan error
	watch   *standin.Watch // nil for none
}

// New makes a service.
func New(o Options) *Service {
	s := &Service{options: o, endpoints: map[string]*endpoint{}}
	for _, c := range o.Collections {
		s.collections = append(s.collections, &collection{Collection: c})
	}
	return s
}

// Start reads the recording.
func (s *Service) Start(string) (err error) {
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
	d := &endpoint{service: s, address: listener.Addr().String(), served: make(chan error, 1)}
	d.server = &http.Server{Handler: d}
	go func() { d.served <- d.server.Serve(listener) }()
	s.endpoints[n.Name] = d
	return nil
}

// URL returns the address at which programs of a machine reach the service; empty if the machine is
// not prepared for it.
func (s *Service) URL(machine string) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	if d := s.endpoints[machine]; d != nil {
		return "http://" + d.address
	}
	return ""
}

// Watch makes a watch receive the requests of a machine's programs from now on.
func (s *Service) Watch(machine string, w *standin.Watch) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if d := s.endpoints[machine]; d != nil {
		d.watch = w
	}
}

// Operations lists the requests that can be made to fail: "GET /volumes".
func (s *Service) Operations() []string {
	var all []string
	for _, c := range s.options.Collections {
		all = append(all, c.operations()...)
	}
	for _, r := range s.options.Routes {
		all = append(all, r.operation())
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

// Stop closes all addresses.
func (s *Service) Stop() error {
	var errs []error
	for _, d := range s.endpoints {
		if d.watch != nil {
			d.watch.End()
		}
		errs = append(errs, d.server.Close())
		if err := <-d.served; !errors.Is(err, http.ErrServerClosed) {
			errs = append(errs, err)
		}
	}
	s.endpoints = map[string]*endpoint{}
	return errors.Join(errs...)
}

// ServeHTTP answers a request of the machine's programs.
func (d *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client closed the connection
	}
	s := d.service
	s.lock.Lock()
	at := s.route(r.Method, r.URL.Path)
	seen := standin.Request{Method: r.Method, Path: r.URL.Path, Route: at.route, Lists: at.lists(r.Method)}
	interference, watch := standin.Interference{}, d.watch
	if watch != nil {
		interference, seen.Failed = watch.Decide(seen)
	}
	a := s.answer(at, r, body, interference)
	s.lock.Unlock()
	if seen.Status = a.status; interference.Reset {
		seen.Status = 0
	}
	if watch != nil {
		watch.Record(seen)
	}
	switch {
	case interference.Reset:
		reset(w)
		return
	case interference.Slow:
		watch.Hold()
	}
	a.write(w)
}

func (a answer) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	for name, value := range a.headers {
		w.Header().Set(name, value)
	}
	if a.status == http.StatusTooManyRequests || a.status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}

// reset ends the connection of a request without an answer.
func reset(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, is := connection.(*net.TCPConn); is {
		_ = tcp.SetLinger(0) // an RST, not a FIN
	}
	_ = connection.Close()
}

// place is the target of a path.
type place struct {
	route      string
	collection *collection // nil for none
	id         string      // of an object; empty for the list
	fixed      *Route      // nil for none
}

func (p place) lists(method string) bool {
	return method == http.MethodGet && p.collection != nil && p.id == "" && p.collection.StaleLists
}

// route finds the target of a path.
func (s *Service) route(method, of string) place {
	for _, r := range s.options.Routes {
		if fits, _ := path.Match(r.operation(), method+" "+of); fits {
			return place{route: r.Path, fixed: &r}
		}
	}
	for _, c := range s.collections {
		if of == c.Path {
			return place{route: c.Path, collection: c}
		}
		if path.Dir(of) == c.Path {
			return place{route: path.Join(c.Path, "*"), collection: c, id: path.Base(of)}
		}
	}
	return place{route: of}
}

// answer executes a request, unless a failure prevents it.
func (s *Service) answer(at place, r *http.Request, body []byte, i standin.Interference) answer {
	status, text := i.Status, "injected"
	if status == 0 {
		status, text = s.failure(r.Method + " " + at.route)
	}
	if status == 0 {
		return s.carryOut(at, r, body, i.Stale)
	}
	if at.isDoneBefore(r.Method, status) {
		s.carryOut(at, r, body, false)
	}
	return refusal(status, text)
}

// isDoneBefore reports whether an error means that an earlier request was executed. An object that
// is not found was deleted, and an object that conflicts exists. The service then really carries
// the request out.
func (p place) isDoneBefore(method string, status int) bool {
	switch {
	case p.collection == nil:
		return false
	case method == http.MethodDelete:
		return status == http.StatusNotFound
	case method == http.MethodPost:
		return status == http.StatusConflict && len(p.collection.Unique) > 0
	}
	return false
}

// failure is the status by which a step of the scenario makes an operation fail; 0 if it does not.
func (s *Service) failure(operation string) (int, string) {
	at := slices.IndexFunc(s.failures, func(f standin.Failure) bool { return f.Operation == operation })
	if at < 0 {
		return 0, ""
	}
	f := s.failures[at]
	switch f.Times {
	case 0: // always
	case 1:
		s.failures = slices.Delete(s.failures, at, at+1)
	default:
		s.failures[at].Times--
	}
	return f.Code, f.Message
}

func (s *Service) carryOut(at place, r *http.Request, body []byte, stale bool) answer {
	switch {
	case at.fixed != nil:
		return at.fixed.answer()
	case at.collection == nil:
		return s.recorded.answer(r.Method, r.URL.Path)
	case at.id == "" && r.Method == http.MethodGet:
		return at.collection.list(r.URL.Query(), stale)
	}
	t := thing{}
	if text := strings.TrimSpace(string(body)); text != "" {
		if err := json.Unmarshal([]byte(text), &t); err != nil {
			return refusal(http.StatusBadRequest, err.Error())
		}
	}
	switch {
	case at.id != "":
		return at.collection.ofThing(r.Method, at.id, t)
	case r.Method == http.MethodPost:
		return at.collection.create(t)
	}
	return refusal(http.StatusMethodNotAllowed, r.Method)
}

func (r *Route) answer() answer {
	a := answer{status: r.Status, headers: r.Headers, body: []byte(r.Body)}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	return a
}
