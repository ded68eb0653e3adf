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
	Routes      []Route      `json:"routes,omitempty" doc:"Paths with a separate answer, such as actions."`
	Errors      string       `json:"errors,omitempty" example:"{'error': {'code': status == 404 ? 'not_found' : 'failed', 'message': text}}" doc:"A CEL expression of status and text: the body of an answer that refuses a request; default an object with the field error."`
	Recording   string       `json:"recording,omitempty" example:"./backend.har" doc:"A recording of requests and answers (HTTP Archive, HAR), relative to this file. Each method and path gets the recorded answers in their order, and the last answer is repeated."`
}

// Collection is a resource with the usual methods: GET and POST of the path, and GET, PUT, PATCH
// and DELETE of the objects below it.
type Collection struct {
	Path       string   `json:"path" want:"required" example:"/volumes" doc:"The path of its list. POST creates an object, which is then at this path followed by its id."`
	ID         string   `json:"id,omitempty" default:"id" doc:"The field that has the id. POST adds an id to an object without one."`
	Numbered   bool     `json:"numbered,omitempty" doc:"Ids are numbers, not texts."`
	Unique     []string `json:"unique,omitempty" example:"[name]" doc:"Fields with unique values: a POST with a value that another object has gets 409."`
	Items      string   `json:"items,omitempty" example:"items" doc:"The field of a list's answer that contains the objects; by default the answer is a JSON array of them."`
	Listed     string   `json:"listed,omitempty" example:"{'volumes': objects, 'total': size(objects)}" doc:"Instead of items: a CEL expression of objects, those that fit the query, and query: the answer of a list."`
	Item       string   `json:"item,omitempty" example:"volume" doc:"The field of other answers that contains the object; by default the answer is the object."`
	Create     string   `json:"create,omitempty" example:"{'status': 'available', 'server': null}" doc:"A CEL expression of body: fields that a new object has besides those of the request."`
	Created    string   `json:"created,omitempty" example:"{'volume': object, 'action': {'id': 1, 'status': 'success'}}" doc:"A CEL expression of object and body: the answer to a POST."`
	Nodes      string   `json:"nodes,omitempty" example:"{'id': node.number, 'name': node.name}" doc:"A CEL expression of node: the object that the collection has for each node from the beginning."`
	Disk       *Disk    `json:"disk,omitempty" doc:"Each object has a disk, a file of the run that nodes see as a loop device. It needs root."`
	StaleLists bool     `json:"staleLists,omitempty" doc:"Whether a list of the real service may lag behind the latest writes. If so, faults may make lists stale."`
}

// Disk describes the disks of a collection's objects by CEL expressions of object.
type Disk struct {
	Size  string `json:"size" want:"required" example:"object.size * 1073741824" doc:"A CEL expression of object: the size in bytes. It may grow."`
	From  string `json:"from,omitempty" example:"has(object.snapshot) ? '/snapshots/' + object.snapshot : ''" doc:"A CEL expression of object: the path of the object with the first content of the disk; empty for an empty disk."`
	Nodes string `json:"nodes,omitempty" example:"object.server == null ? [] : [object.server]" doc:"A CEL expression of object: names or numbers of the nodes that see the disk."`
	Path  string `json:"path,omitempty" example:"'/dev/disk/by-id/volume-' + string(object.id)" doc:"A CEL expression of object: the device on these nodes."`
}

// Route is a path with a separate answer.
type Route struct {
	Method  string            `json:"method,omitempty" default:"GET" doc:"The method."`
	Path    string            `json:"path" want:"required" example:"/volumes/*/actions/attach" doc:"The path; * stands for any letters within an element."`
	Of      string            `json:"of,omitempty" example:"/volumes" doc:"The path of a collection: the first * of path is the id of an object in it, which expressions call object. Without such an object the answer is 404."`
	When    string            `json:"when,omitempty" example:"object.server != null" doc:"A CEL expression of object, body, query and node: whether the route applies. The first that applies answers."`
	Set     string            `json:"set,omitempty" example:"{'server': body.server}" doc:"A CEL expression of object, body, query and node: fields that object has afterwards."`
	Into    string            `json:"into,omitempty" example:"/snapshots" doc:"The path of a collection that gets a new object, which expressions call made."`
	New     string            `json:"new,omitempty" example:"{'name': body.name, 'volume': object.id}" doc:"A CEL expression of object, body, query and node: the new object."`
	Status  int               `json:"status,omitempty" default:"200" doc:"The status of the answer."`
	Headers map[string]string `json:"headers,omitempty" doc:"Headers of the answer; the default content type is JSON."`
	Body    string            `json:"body,omitempty" doc:"The body of the answer."`
	Answer  string            `json:"answer,omitempty" example:"{'action': {'id': 1, 'status': 'success'}}" doc:"Instead of body: a CEL expression of object, made, body, query, node and collections, the objects by the path of their collection. A text is returned unchanged."`
}

// Check returns the first mistake in the options.
func (o Options) Check() error {
	if len(o.Collections) == 0 && len(o.Routes) == 0 && o.Recording == "" {
		return fmt.Errorf("no collections, no routes and no recording")
	}
	if _, err := compile(o.Errors); err != nil {
		return fmt.Errorf("errors: %w", err)
	}
	for i, c := range o.Collections {
		if err := c.check(); err != nil {
			return err
		}
		if slices.ContainsFunc(o.Collections[:i], func(other Collection) bool { return other.Path == c.Path }) {
			return fmt.Errorf("two collections with path %q", c.Path)
		}
	}
	for _, r := range o.Routes {
		if err := o.checkRoute(r); err != nil {
			return err
		}
	}
	return nil
}

func (c Collection) check() error {
	if err := checkPath(c.Path); err != nil {
		return err
	}
	if c.Disk != nil && (c.Disk.Nodes == "") != (c.Disk.Path == "") {
		return fmt.Errorf("the disk of collection %q needs both nodes and path, or none of them", c.Path)
	}
	_, err := c.compile()
	return err
}

func (o Options) checkRoute(r Route) error {
	if err := checkPath(r.Path); err != nil {
		return err
	}
	switch {
	case r.Status != 0 && (r.Status < 200 || r.Status > 599):
		return fmt.Errorf("status %d of path %q", r.Status, r.Path)
	case r.Of != "" && !o.declares(r.Of):
		return fmt.Errorf("path %q is of collection %q, which is not declared", r.Path, r.Of)
	case r.Into != "" && !o.declares(r.Into):
		return fmt.Errorf("path %q puts objects into collection %q, which is not declared", r.Path, r.Into)
	case (r.Into == "") != (r.New == ""):
		return fmt.Errorf("path %q needs both into and new, or none of them", r.Path)
	case r.Of != "" && !strings.Contains(r.Path, "*"):
		return fmt.Errorf("path %q is of a collection, and has no * for the id", r.Path)
	case r.Set != "" && r.Of == "":
		return fmt.Errorf("path %q sets fields, and is of no collection", r.Path)
	case r.Body != "" && r.Answer != "":
		return fmt.Errorf("path %q has both body and answer", r.Path)
	}
	_, err := r.compile()
	return err
}

func (o Options) declares(collection string) bool {
	return slices.ContainsFunc(o.Collections, func(c Collection) bool { return c.Path == collection })
}

func checkPath(text string) error {
	_, err := path.Match(text, "")
	if !strings.HasPrefix(text, "/") || path.Clean(text) != text || err != nil {
		return fmt.Errorf("path %q is not a clean absolute path", text)
	}
	return nil
}

// operations returns the operations of a collection, or of a route.
func (c Collection) operations() []string {
	below := path.Join(c.Path, "*")
	return []string{
		"GET " + c.Path, "POST " + c.Path, "GET " + below, "PUT " + below, "PATCH " + below, "DELETE " + below,
	}
}

func (r Route) operation() string { return orGet(r.Method) + " " + r.Path }

func orGet(method string) string {
	if method == "" {
		return http.MethodGet
	}
	return method
}
