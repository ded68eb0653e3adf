package apiserver_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A continue token with resourceVersion=0 has no limit, like a list of version 0. A watch with a
// negative timeout ends at once. A real server v1.36.3 gives the same answers.
func TestListsAndWatchesOfOddOptions(t *testing.T) {
	c := converse(t)
	const maps = "/api/v1/namespaces/default/configmaps"
	for _, name := range []string{"a", "b", "c"} {
		c.post(maps, fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name))
	}
	names := func(answer said) int { return len(answer.field("items").([]any)) }
	first := c.say("GET", maps+"?limit=1", "", "")
	token := first.field("metadata", "continue").(string)
	assert.Equal(t, 1, names(first))
	assert.Equal(t, 1, names(c.say("GET", maps+"?limit=1&continue="+token, "", "")))
	assert.Equal(t, 2, names(c.say("GET", maps+"?limit=1&resourceVersion=0&continue="+token, "", "")))
	begin := time.Now()
	assert.Empty(t, c.say("GET", maps+"?watch=1&timeoutSeconds=-5", "", "").text)
	assert.Contains(t, c.say("GET", maps+"?watch=1&timeoutSeconds=-5&resourceVersion=0", "", "").text, `"name":"c"`)
	assert.Less(t, time.Since(begin), time.Minute)
}

// kubectl get componentstatuses, and discovery of a kind without a store.
// [pkg/registry/core/componentstatus/rest.go]
func TestComponentsAreHealthy(t *testing.T) {
	c := converse(t)
	const statuses = "/api/v1/componentstatuses"
	list := c.say("GET", statuses, "", "")
	assert.Len(t, list.field("items"), 3)
	assert.Equal(t, `299 - "v1 ComponentStatus is deprecated in v1.19+"`, list.header.Get("Warning"))
	table := c.say("GET", statuses, "", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	assert.Contains(t, table.text, `"cells":["scheduler","Healthy","ok",""]`)
	assert.Equal(t, "etcd-0", c.say("GET", statuses+"/etcd-0", "", "").field("metadata", "name"))
	assert.Equal(t, http.StatusNotFound, c.say("GET", statuses+"/none", "", "").code)
	assert.Equal(t, http.StatusMethodNotAllowed, c.say("GET", statuses+"?watch=1", "", "").code)
	assert.Equal(t, http.StatusMethodNotAllowed, c.say("DELETE", statuses, "", "").code)
	assert.Contains(t, c.say("GET", "/api/v1", "", "").text,
		`{"name":"componentstatuses","singularName":"componentstatus","namespaced":false,"kind":"ComponentStatus","verbs":["get","list"],"shortNames":["cs"]}`)
	aggregated := c.say("GET", "/api", "", "", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList").text
	assert.Contains(t, aggregated, `{"resource":"bindings","responseKind":{"group":"","version":"","kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]}`)
	assert.Contains(t, aggregated, `"resource":"componentstatuses"`)
}
