package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// onePod returns a server with an unscheduled pod.
func onePod(t *testing.T) *conversation {
	c := converse(t)
	c.post(pods, "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c, image: i}]}}")
	return c
}

// subresourceWrites are requests that write; a namespace and a scale belong to other kinds.
var subresourceWrites = []struct{ name, method, path, contentType, body string }{
	{"binding", "POST", pods + "/web/binding", "application/yaml", "{apiVersion: v1, kind: Binding, metadata: {name: web}, target: {name: a}}"},
	{"bindings", "POST", "/api/v1/namespaces/default/bindings", "application/yaml", "{apiVersion: v1, kind: Binding, metadata: {name: web}, target: {name: a}}"},
	{"eviction", "POST", pods + "/web/eviction", "application/yaml", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: web}}"},
	{"status", "PATCH", pods + "/web/status", "application/merge-patch+json", `{"status":{"message":"m"}}`},
	{"resize", "PATCH", pods + "/web/resize", "application/strategic-merge-patch+json", `{"spec":{"containers":[{"name":"c","resizePolicy":[]}]}}`},
	{"ephemeralcontainers", "PATCH", pods + "/web/ephemeralcontainers", "application/strategic-merge-patch+json", `{"spec":{"ephemeralContainers":[{"name":"d","image":"i"}]}}`},
	{"finalize", "PUT", "/api/v1/namespaces/default/finalize", "application/yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {a: b}}, spec: {finalizers: []}}"},
	{"scale", "PUT", "/apis/apps/v1/namespaces/default/deployments/d/scale", "application/yaml", "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: d}, spec: {replicas: 3}}"},
	{"scale patch", "PATCH", "/apis/apps/v1/namespaces/default/deployments/d/scale", "application/merge-patch+json", `{"spec":{"replicas":4}}`},
	{"token", "POST", robots + "/default/token", "application/yaml", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {}}"},
}

// Each write of a subresource reads the options of its query. A dry run changes nothing.
// [k8s.io/apiserver/pkg/endpoints/handlers create.go, update.go, patch.go]
func TestSubresourcesHonourTheOptionsOfTheirQuery(t *testing.T) {
	c := onePod(t)
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	c.post(deployments, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2, selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`)
	c.post(robots, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}")
	all := []string{pods + "/web", "/api/v1/namespaces/default", deployments + "/d"}
	state := func() (texts []string) {
		for _, path := range all {
			texts = append(texts, c.say("GET", path, "", "").text)
		}
		return texts
	}
	before := state()
	for _, write := range subresourceWrites {
		for query, code := range map[string]int{
			"?dryRun=Some": http.StatusUnprocessableEntity, "?fieldValidation=Maybe": http.StatusUnprocessableEntity,
			"?fieldManager=%01": http.StatusUnprocessableEntity,
		} {
			assert.Equal(t, code, c.say(write.method, write.path+query, write.contentType, write.body).code, "%s %s", write.name, query)
		}
		assert.Less(t, c.say(write.method, write.path+"?dryRun=All", write.contentType, write.body).code, 300, write.name)
		assert.Equal(t, before, state(), write.name)
	}
	for _, version := range []string{"/web/status", "/web/resize", "/web/ephemeralcontainers"} {
		assert.NotEqual(t, http.StatusOK, c.say("GET", pods+version+"?resourceVersion=x", "", "").code, version)
	}
	assert.NotEqual(t, http.StatusOK, c.say("GET", deployments+"/d/scale?resourceVersion=x", "", "").code)
}

// Unknown fields of a body of another kind are rejected, or cause warnings, like those of an
// object.
func TestSubresourcesReadTheirBodiesStrictly(t *testing.T) {
	c := onePod(t)
	const body = "{apiVersion: policy/v1, kind: Eviction, metadata: {name: web}, bogus: 1}"
	strict := c.say("POST", pods+"/web/eviction?fieldValidation=Strict", "application/yaml", body)
	assert.Equal(t, http.StatusBadRequest, strict.code)
	assert.Equal(t, `Eviction in version "v1" cannot be handled as a Eviction: strict decoding error: unknown field "bogus"`, strict.field("message"))
	warned := c.say("POST", pods+"/web/eviction?dryRun=All", "application/yaml", body)
	assert.Equal(t, `299 - "unknown field \"bogus\""`, warned.header.Get("Warning"))
	assert.Empty(t, c.say("POST", pods+"/web/eviction?dryRun=All&fieldValidation=Ignore", "application/yaml", body).header.Get("Warning"))
}

// A binding has preconditions, and sets annotations and labels. [pkg/registry/core/pod/storage
// setPodNodeAndMetadata]
func TestABindingHasPreconditionsAndMetadata(t *testing.T) {
	c := onePod(t)
	bind := func(metadata string) said {
		return c.say("POST", pods+"/web/binding", "application/yaml", "{apiVersion: v1, kind: Binding, metadata: {name: web, "+metadata+"}, target: {name: a}}")
	}
	version := c.say("GET", pods+"/web", "", "").field("metadata", "resourceVersion").(string)
	conflict := bind("resourceVersion: '1'")
	assert.Equal(t, http.StatusConflict, conflict.code)
	assert.Contains(t, conflict.field("message"), "Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: "+version)
	assert.Equal(t, http.StatusConflict, bind("uid: other").code)
	assert.Equal(t, http.StatusBadRequest, bind("namespace: other").code)
	assert.Equal(t, http.StatusCreated, bind("annotations: {x: z}, labels: {l: m}, resourceVersion: '"+version+"'").code)
	bound := c.say("GET", pods+"/web", "", "")
	assert.Equal(t, map[string]any{"x": "z"}, bound.field("metadata", "annotations"))
	assert.Equal(t, map[string]any{"l": "m"}, bound.field("metadata", "labels"))
}

// The query and the body of an eviction may not disagree. [eviction.go propagateDryRun]
func TestTheDryRunsOfAnEvictionAgree(t *testing.T) {
	c := onePod(t)
	answer := c.say("POST", pods+"/web/eviction?dryRun=All", "application/yaml",
		"{apiVersion: policy/v1, kind: Eviction, metadata: {name: web}, deleteOptions: {dryRun: [Other]}}")
	assert.Equal(t, http.StatusInternalServerError, answer.code)
	assert.Equal(t, "Non-matching dry-run options in request and content: [All] and [Other]", answer.field("message"))
}
