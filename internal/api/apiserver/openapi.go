package apiserver

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const openAPIRoot = "/openapi/v3"

// object is a JSON object of a document.
type object = map[string]any

// serveOpenAPI answers with the index of the documents, or with one of them. They contain the
// fields of each kind, and how patches merge its lists.
func (q *request) serveOpenAPI() error {
	name := strings.Trim(strings.TrimPrefix(q.URL.Path, openAPIRoot), "/")
	if name == "" {
		return q.openAPIIndex()
	}
	document, ok := q.server.kinds().openAPI(name, q.server.options.Version().String())
	if !ok {
		q.answer.w.WriteHeader(http.StatusNotFound)
		return nil
	}
	return q.answer.json(http.StatusOK, document)
}

func (q *request) openAPIIndex() error {
	paths := object{}
	for _, name := range q.server.kinds().documents() {
		document, _ := q.server.kinds().openAPI(name, q.server.options.Version().String())
		text, err := json.Marshal(document)
		if err != nil {
			return fmt.Errorf("encoding the document %s: %w", name, err)
		}
		paths[name] = object{"serverRelativeURL": fmt.Sprintf("%s/%s?hash=%X", openAPIRoot, name, sha256.Sum256(text))}
	}
	body, err := json.Marshal(object{"paths": paths})
	if err != nil {
		return fmt.Errorf("encoding the index of documents: %w", err)
	}
	q.answer.body(http.StatusOK, "text/plain; charset=utf-8", body) // like the real server
	return nil
}

// documents returns the names of all documents: one for each group, one for each of its versions.
func (c *catalog) documents() []string {
	names := map[string]bool{}
	for _, k := range c.kinds {
		if !k.isDiscovered() {
			continue
		}
		root := strings.TrimPrefix(rootOf(k.gvk.GroupVersion()), "/")
		names[root] = true
		if k.gvk.Group != "" {
			names["apis/"+k.gvk.Group] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

func rootOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "/api/" + gv.Version
	}
	return "/apis/" + gv.String()
}

// openAPI returns the document of a group or a version.
func (c *catalog) openAPI(name, version string) (object, bool) {
	paths, models := object{}, &models{made: object{}}
	found := false
	for _, k := range c.kinds {
		if !k.isDiscovered() {
			continue
		}
		root := rootOf(k.gvk.GroupVersion())
		switch name {
		case strings.TrimPrefix(root, "/"):
			k.describePaths(root, paths, models)
		case "apis/" + k.gvk.Group:
		default:
			continue
		}
		found = true
	}
	paths["/"+name+"/"] = object{"get": operation("get available resources", "", nil)}
	return object{
		"openapi": "3.0.0",
		"info":    object{"title": "Kubernetes", "version": version},
		"paths":   paths,
		"components": object{"schemas": models.made, "securitySchemes": object{
			"BearerToken": object{"type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer Token authentication"},
		}},
	}, found
}

// describePaths adds the paths of a kind and their operations.
func (k *servedKind) describePaths(root string, paths object, m *models) {
	model := m.of(k)
	collection, watch := root+"/"+k.gvr.Resource, root+"/watch/"+k.gvr.Resource
	if k.res.Namespaced {
		paths[collection] = object{"get": operation("list", "list", k)}
		paths[watch] = object{"get": operation("watch", "watchlist", k)}
		collection, watch = root+"/namespaces/{namespace}/"+k.gvr.Resource, root+"/watch/namespaces/{namespace}/"+k.gvr.Resource
	}
	paths[collection] = k.operations(model, "get", "post", "delete")
	paths[collection+"/{name}"] = k.operations(model, "get", "put", "patch", "delete")
	paths[watch] = object{"get": operation("watch", "watchlist", k)}
	paths[watch+"/{name}"] = object{"get": operation("watch", "watch", k)}
	for _, s := range k.subresources {
		paths[collection+"/{name}/"+s.Name] = k.operations(model, methodsOf(s.Verbs)...)
	}
}

var methodOf = map[string]string{"get": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete"}

func methodsOf(verbs []string) (methods []string) {
	for _, verb := range verbs {
		methods = append(methods, methodOf[verb])
	}
	return methods
}

// actions are the names of methods in documents.
var actions = map[string]string{"get": "get", "post": "post", "put": "put", "patch": "patch", "delete": "delete"}

func (k *servedKind) operations(model string, methods ...string) object {
	all := object{}
	for _, method := range methods {
		op := operation(actions[method]+" "+k.gvk.Kind, actions[method], k)
		if method == "post" || method == "put" || method == "patch" {
			op["requestBody"] = object{"content": object{"*/*": object{"schema": object{"$ref": reference(model)}}}}
		}
		op["responses"] = object{"200": object{
			"description": "OK", "content": object{typeJSON: object{"schema": object{"$ref": reference(model)}}},
		}}
		all[method] = op
	}
	return all
}

// operation describes one operation on a kind. All writes support field validation, which clients
// check.
func operation(description, action string, k *servedKind) object {
	op := object{"description": description, "responses": object{"200": object{"description": "OK"}}}
	if k == nil {
		return op
	}
	op["x-kubernetes-action"] = action
	op["x-kubernetes-group-version-kind"] = gvkObject(k.gvk)
	var parameters []object
	for _, name := range parametersOf[action] {
		parameters = append(parameters, object{"name": name, "in": "query", "schema": object{"type": "string", "uniqueItems": true}})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	return op
}

var parametersOf = map[string][]string{
	"post":  {"dryRun", "fieldManager", "fieldValidation"},
	"put":   {"dryRun", "fieldManager", "fieldValidation"},
	"patch": {"dryRun", "fieldManager", "fieldValidation", "force"},
}

func gvkObject(gvk schema.GroupVersionKind) object {
	return object{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind}
}
