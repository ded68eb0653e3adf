package apiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

const (
	openAPIV2Root = "/openapi/v2"
	typeSwagger   = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
)

// serveSwagger answers with the OpenAPI v2 document of all kinds. Before kubectl reports that a
// kind does not exist, it requests this document.
func (q *request) serveSwagger() error {
	document := q.server.kinds().swagger(q.server.options.Version().String())
	if !strings.Contains(q.Header.Get("Accept"), "proto-openapi.spec.v2") {
		return q.answer.json(http.StatusOK, document)
	}
	text, err := json.Marshal(document)
	if err != nil {
		return fmt.Errorf("encoding the document: %w", err)
	}
	parsed, err := openapiv2.ParseDocument(text)
	if err != nil {
		return fmt.Errorf("reading the document: %w", err)
	}
	body, err := proto.Marshal(parsed)
	if err != nil {
		return fmt.Errorf("encoding the document: %w", err)
	}
	q.answer.body(http.StatusOK, typeSwagger, body)
	return nil
}

// swagger combines the documents of all versions.
func (c *catalog) swagger(version string) object {
	paths, definitions := object{}, object{}
	for _, name := range c.documents() {
		if strings.HasPrefix(name, "apis/") && strings.Count(name, "/") == 1 {
			continue // of a group
		}
		document, _ := c.openAPI(name, version)
		// Any order: paths are independent.
		for path, operations := range document["paths"].(object) {
			paths[path] = olderOperations(operations.(object))
		}
		schemas := document["components"].(object)["schemas"].(object)
		for name, schema := range schemas { // any order: schemas are independent
			definitions[name] = olderSchema(schema.(object))
		}
	}
	return object{
		"swagger": "2.0", "info": object{"title": "Kubernetes", "version": version}, "paths": paths, "definitions": definitions,
	}
}

func olderOperations(operations object) object {
	older := object{}
	for method, operation := range operations { // any order: methods are independent
		older[method] = olderOperation(maps.Clone(operation.(object)))
	}
	return older
}

// olderOperation converts an operation: bodies are parameters, and answers have no media types.
func olderOperation(op object) object {
	var parameters []object
	newer, _ := op["parameters"].([]object)
	for _, p := range newer {
		parameters = append(parameters, object{"name": p["name"], "in": p["in"], "type": "string", "uniqueItems": true})
	}
	if body, ok := op["requestBody"].(object); ok {
		parameters = append(parameters, object{"name": "body", "in": "body", "required": true, "schema": schemaIn(body)})
		delete(op, "requestBody")
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	answer := op["responses"].(object)["200"].(object)
	older := object{"description": answer["description"]}
	if answer["content"] != nil {
		older["schema"] = schemaIn(answer)
	}
	op["responses"] = object{"200": older}
	return op
}

// schemaIn returns the schema of content, which is the same in all its media types.
func schemaIn(content object) object {
	for _, form := range content["content"].(object) { // any order: there is only one
		return olderSchema(form.(object)["schema"].(object))
	}
	return object{}
}

// olderWords are the keywords of schemas in OpenAPI v2.
var olderWords = []string{
	"$ref", "format", "title", "description", "default", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
	"exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxProperties",
	"minProperties", "required", "enum", "additionalProperties", "type", "items", "allOf", "properties", "example",
}

// olderSchema converts a schema to OpenAPI v2. If v2 cannot express it, the result allows any
// value, like the real server's.
func olderSchema(s object) object {
	older := object{}
	for word, value := range s { // any order: words are independent
		if slices.Contains(olderWords, word) || strings.HasPrefix(word, "x-kubernetes-") {
			older[word] = value
		}
	}
	if ref, ok := older["$ref"].(string); ok {
		older["$ref"] = olderReference(ref)
	}
	if one, ok := older["allOf"].([]object); ok && len(one) == 1 && one[0]["$ref"] != nil {
		older["$ref"] = olderReference(one[0]["$ref"].(string))
	}
	delete(older, "allOf")
	if open, _ := s["x-kubernetes-preserve-unknown-fields"].(bool); open {
		for _, word := range []string{"type", "items", "properties", "additionalProperties", "required"} {
			delete(older, word)
		}
	}
	if either, _ := s["x-kubernetes-int-or-string"].(bool); either || s["nullable"] == true {
		delete(older, "type")
	}
	if items, ok := older["items"].(object); ok {
		older["items"] = olderSchema(items)
	}
	if values, ok := older["additionalProperties"].(object); ok {
		older["additionalProperties"] = olderSchema(values)
	}
	if properties, ok := older["properties"].(object); ok {
		named := object{}
		for name, property := range properties { // any order: properties are independent
			named[name] = olderSchema(property.(object))
		}
		older["properties"] = named
	}
	return older
}

func olderReference(ref string) string {
	return "#/definitions/" + strings.TrimPrefix(ref, reference(""))
}
