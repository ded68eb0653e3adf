package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Ephemeral containers can only be added, through their subresource, and never change.
// [pkg/apis/core/validation: ValidatePodEphemeralContainersUpdate;
// pkg/registry/core/pod/strategy.go: dropNonEphemeralContainerUpdates]
func TestEphemeralContainersAreOnlyAdded(t *testing.T) {
	c := converse(t)
	const web = "/api/v1/namespaces/default/pods/web"
	c.post("/api/v1/namespaces/default/pods", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"nodeName":"n","containers":[{"name":"a","image":"i"}]}}`)
	const merge = "application/strategic-merge-patch+json"
	add := func(container string) string { return `{"spec":{"ephemeralContainers":[` + container + `]}}` }
	for _, try := range []struct {
		path, body string
		code       int
		says       string
	}{
		{"/ephemeralcontainers", add(`{"name":"a","image":"i"}`), 422, `spec.ephemeralContainers[0].name: Duplicate value: "a"`},
		{"/ephemeralcontainers", add(`{"name":"d"}`), 422, "spec.ephemeralContainers[0].image: Required value"},
		{"/ephemeralcontainers", add(`{"name":"d","image":"i","targetContainerName":"x"}`), 422, `spec.ephemeralContainers[0].targetContainerName: Not found: "x"`},
		{"/ephemeralcontainers", add(`{"name":"d","image":"i","ports":[{"containerPort":1}]}`), 422, "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container"},
		{"/ephemeralcontainers", add(`{"name":"d","image":"i","lifecycle":{}}`), 422, "spec.ephemeralContainers[0].lifecycle: Forbidden: cannot be set for an Ephemeral Container"},
		{"", add(`{"name":"d","image":"i"}`), 422, "pod updates may not change fields other than"},
		{"/ephemeralcontainers", add(`{"name":"d","image":"i"}`), 200, ""},
		{"/ephemeralcontainers", add(`{"name":"d","image":"j"}`), 422, `spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be changed`},
		{"/ephemeralcontainers", `{"spec":{"ephemeralContainers":null}}`, 422, `spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed`},
		{"/ephemeralcontainers", add(`{"name":"e","image":"i"}`), 200, ""},
		{"", `{"spec":{"containers":[{"name":"a","image":"other"}]}}`, 200, ""},
	} {
		answer := c.say("PATCH", web+try.path, merge, try.body)
		assert.Equal(t, try.code, answer.code, answer.text)
		if try.says != "" {
			assert.Contains(t, answer.field("message"), try.says)
		}
	}
	answer := c.say("PATCH", web+"/ephemeralcontainers", merge, `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"third"}],"ephemeralContainers":[{"name":"f","image":"i"}]}}`)
	assert.Equal(t, http.StatusOK, answer.code, answer.text)
	assert.NotContains(t, answer.text, "third", "the rest of the pod stays")
	assert.NotContains(t, answer.text, `"labels"`)
}
