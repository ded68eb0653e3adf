package web

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/csisim/csisim/internal/driver/standin"
)

// ServeHTTP answers a request of the machine's programs.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, err := e.read(r)
	if err != nil {
		return // the client closed the connection
	}
	s := e.service
	s.lock.Lock()
	at, misdeclared := s.place(q)
	seen := standin.Request{Method: q.method, Path: q.path, Route: at.route, Lists: at.lists(q.method)}
	interference, watch := standin.Interference{}, e.watch
	if watch != nil {
		interference, seen.Failed = watch.Decide(seen)
	}
	var a answer
	if misdeclared != nil {
		a = failure(misdeclared)
	} else {
		a = s.answer(at, q, interference)
	}
	a = s.explain(a)
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

// answer executes a request, unless a failure prevents it.
func (s *Service) answer(at place, q request, i standin.Interference) answer {
	status, text := i.Status, "injected"
	if status == 0 {
		status, text = s.failure(q.method + " " + at.route)
	}
	if status == 0 {
		return s.carryOut(at, q, i.Stale)
	}
	if at.isDoneBefore(q.method, status) {
		s.carryOut(at, q, false)
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

// failure returns the status by which a step of the scenario makes an operation fail; 0 if it does
// not.
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

func (s *Service) carryOut(at place, q request, stale bool) answer {
	c := at.collection
	switch {
	case at.declared != nil:
		return s.ofRoute(at, q)
	case c == nil:
		return s.recorded.answer(q.method, q.path)
	case at.id == "" && q.method == http.MethodGet:
		return c.list(q, stale)
	case q.malformed != nil:
		return refusal(http.StatusBadRequest, q.malformed.Error())
	case at.id == "" && q.method != http.MethodPost:
		return refusal(http.StatusMethodNotAllowed, q.method)
	}
	a := answer{}
	if at.id == "" {
		a = c.create(q.body)
	} else {
		a = c.ofObject(q.method, at.id, q.body)
	}
	if err := s.syncDisks(c); err != nil {
		return failure(err)
	}
	return a
}

// ofRoute answers a request as its route declares.
func (s *Service) ofRoute(at place, q request) answer {
	r := at.declared
	of, object, i := s.objectOf(at)
	if of != nil && i < 0 {
		return refusal(http.StatusNotFound, at.id+" not found")
	}
	n := q.names(object)
	if r.set != nil {
		fields, err := r.set.fields(n)
		if err != nil {
			return failure(err)
		}
		of.patch(i, fields)
		n.object = of.objects[i]
		if err := s.syncDisks(of); err != nil {
			return failure(err)
		}
	}
	if r.made != nil {
		made, refused := s.makeNew(r, n)
		if refused != nil {
			return *refused
		}
		n.made = made
	}
	n.collections = s.objects()
	return r.answerTo(n)
}

// objects returns the objects of all collections, by their paths.
func (s *Service) objects() map[string]any {
	all := map[string]any{}
	for _, c := range s.collections {
		all[c.Path] = c.values()
	}
	return all
}

// makeNew makes the new object of a route.
func (s *Service) makeNew(r *compiledRoute, n names) (object, *answer) {
	fields, err := r.made.fields(n)
	if err != nil {
		a := failure(err)
		return nil, &a
	}
	into := s.collection(r.Into)
	made, refused := into.make(fields)
	if refused != nil {
		return nil, refused
	}
	if err := s.syncDisks(into); err != nil {
		a := failure(err)
		return nil, &a
	}
	return made, nil
}

// answerTo returns the answer of a route when its changes are made.
func (r *compiledRoute) answerTo(n names) answer {
	a := answer{status: r.Status, body: []byte(r.Body)}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	switch {
	case r.answer != nil:
		value, err := r.answer.value(n)
		if err != nil {
			return failure(err)
		}
		if text, is := value.(string); is {
			a.body = []byte(text)
		} else {
			a = jsonAnswer(a.status, value)
		}
	case r.Body == "" && a.status >= http.StatusBadRequest:
		a = refusal(a.status, fmt.Sprintf("%s %s: %s", orGet(r.Method), r.Path, http.StatusText(a.status)))
	}
	a.headers = r.Headers
	return a
}
