package web

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// request is a request of a machine's programs.
type request struct {
	method, path string
	query        url.Values
	body         object // empty without a body
	malformed    error  // of the body
	node         map[string]any
}

func (e *endpoint) read(r *http.Request) (request, error) {
	q := request{method: r.Method, path: r.URL.Path, query: r.URL.Query(), body: object{}, node: e.declared()}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return q, err
	}
	if strings.TrimSpace(string(text)) != "" {
		var body map[string]any
		q.malformed = json.Unmarshal(text, &body)
		for name, value := range body {
			q.body[name] = whole(value)
		}
	}
	return q, nil
}

func (q request) operation() string { return q.method + " " + q.path }

// names returns the values for the expressions of a route.
func (q request) names(object object) names {
	query := map[string]any{}
	for name := range q.query {
		query[name] = q.query.Get(name)
	}
	return names{object: object, body: q.body, query: query, node: q.node}
}

// place is the target of a request.
type place struct {
	route      string
	collection *collection    // nil for none
	id         string         // id of an object; empty for the list
	declared   *compiledRoute // nil for none
}

func (p place) lists(method string) bool {
	return method == http.MethodGet && p.collection != nil && p.id == "" && p.collection.StaleLists
}

// place finds the target of a request.
func (s *Service) place(q request) (place, error) {
	for i := range s.routes {
		r := &s.routes[i]
		if fits, _ := path.Match(r.operation(), q.operation()); !fits {
			continue
		}
		at := place{route: r.Path, declared: r, id: r.idIn(q.path)}
		_, object, _ := s.objectOf(at)
		applies, err := r.when.holds(q.names(object))
		if applies || err != nil {
			return at, err
		}
	}
	for _, c := range s.collections {
		if q.path == c.Path {
			return place{route: c.Path, collection: c}, nil
		}
		if path.Dir(q.path) == c.Path {
			return place{route: path.Join(c.Path, "*"), collection: c, id: path.Base(q.path)}, nil
		}
	}
	return place{route: q.path}, nil
}

// idIn returns the element of a path at the first * of the route's path.
func (r Route) idIn(of string) string {
	elements := strings.Split(of, "/")
	for i, element := range strings.Split(r.Path, "/") {
		if strings.Contains(element, "*") {
			return elements[i]
		}
	}
	return ""
}

// objectOf returns the object to which a route refers, with its collection and its place in it. The
// place is negative if the object does not exist.
func (s *Service) objectOf(at place) (*collection, object, int) {
	c := s.collection(at.declared.Of)
	if c == nil {
		return nil, nil, -1
	}
	i := c.find(at.id)
	if i < 0 {
		return c, nil, i
	}
	return c, c.objects[i], i
}

func (s *Service) collection(path string) *collection {
	for _, c := range s.collections {
		if c.Path == path {
			return c
		}
	}
	return nil
}
