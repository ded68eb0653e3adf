// Package web replaces a storage system with an HTTP API. Its collections and routes are declared
// or recorded, the requests of programs are recorded, and each can fail.
package web

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
)

// Options describe the service.
type Options struct {
	Collections []Collection `json:"collections,omitempty" doc:"Resources that requests make, read, change and delete."`
	Routes      []Route      `json:"routes,omitempty" doc:"Paths with an answer that is always the same."`
	Recording   string       `json:"recording,omitempty" example:"./backend.har" doc:"A recording of requests and answers (HTTP Archive, HAR), relative to this file. Each method and path gets the recorded answers in their order, and the last answer is repeated."`
}

// Collection is a resource with the usual methods: GET and POST of the path, and GET, PUT, PATCH
// and DELETE of the objects below it.
type Collection struct {
	Path       string   `json:"path" want:"required" example:"/volumes" doc:"The path of its list. POST creates an object, which is then at this path followed by its id."`
	ID         string   `json:"id,omitempty" default:"id" doc:"The field that has the id. POST adds an id to an object without one."`
	Unique     []string `json:"unique,omitempty" example:"[name]" doc:"Fields with unique values: a POST with a value that another object has gets 409."`
	Items      string   `json:"items,omitempty" example:"items" doc:"The field of a list's answer that contains the objects; by default the answer is a JSON array of them."`
	StaleLists bool     `json:"staleLists,omitempty" doc:"Whether a list of the real service may lag behind the latest writes. If so, faults may make lists stale."`
}

// Route is a path with a fixed answer.
type Route struct {
	Method  string            `json:"method,omitempty" default:"GET" doc:"The method."`
	Path    string            `json:"path" want:"required" example:"/health" doc:"The path; * stands for any letters within an element."`
	Status  int               `json:"status,omitempty" default:"200" doc:"The status of the answer."`
	Headers map[string]string `json:"headers,omitempty" doc:"Headers of the answer; the default content type is JSON."`
	Body    string            `json:"body,omitempty" doc:"The body of the answer."`
}

// Check returns the first mistake in the options.
func (o Options) Check() error {
	if len(o.Collections) == 0 && len(o.Routes) == 0 && o.Recording == "" {
		return fmt.Errorf("no collections, no routes and no recording")
	}
	for i, c := range o.Collections {
		if err := checkPath(c.Path); err != nil {
			return err
		}
		if slices.ContainsFunc(o.Collections[:i], func(other Collection) bool { return other.Path == c.Path }) {
			return fmt.Errorf("two collections with path %q", c.Path)
		}
	}
	for _, r := range o.Routes {
		if err := checkPath(r.Path); err != nil {
			return err
		}
		if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
			return fmt.Errorf("status %d of path %q", r.Status, r.Path)
		}
	}
	return nil
}

func checkPath(text string) error {
	_, err := path.Match(text, "")
	if !strings.HasPrefix(text, "/") || path.Clean(text) != text || err != nil {
		return fmt.Errorf("path %q is not a clean absolute path", text)
	}
	return nil
}

// operations are the operations of a collection, or of a route.
func (c Collection) operations() []string {
	below := path.Join(c.Path, "*")
	return []string{
		"GET " + c.Path, "POST " + c.Path, "GET " + below, "PUT " + below, "PATCH " + below, "DELETE " + below,
	}
}

func (r Route) operation() string {
	if r.Method == "" {
		return http.MethodGet + " " + r.Path
	}
	return r.Method + " " + r.Path
}
