package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A pod is evicted only if its disruption budget permits that.
func TestEvictionsAskTheDisruptionBudget(t *testing.T) {
	const pods, budgets = "/api/v1/namespaces/default/pods", "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
	const eviction = `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}}`
	c := converse(t)
	c.post(pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	c.say("PATCH", pods+"/web/status", "application/merge-patch+json", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
	c.post(budgets, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"web"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`)

	answer := c.say("POST", pods+"/web/eviction", "application/json", eviction)
	assert.Equal(t, http.StatusTooManyRequests, answer.code)
	assert.Equal(t, "Cannot evict pod as it would violate the pod's disruption budget.", answer.field("message"))
	assert.Contains(t, answer.text, "The disruption budget web is still being processed by the server.")

	status := `{"status":{"observedGeneration":1,"currentHealthy":1,"desiredHealthy":1,"expectedPods":1,"disruptionsAllowed":`
	c.say("PATCH", budgets+"/web/status", "application/merge-patch+json", status+`0}}`)
	answer = c.say("POST", pods+"/web/eviction", "application/json", eviction)
	assert.Contains(t, answer.text, "The disruption budget web needs 1 healthy pods and has 1 currently")

	c.say("PATCH", budgets+"/web/status", "application/merge-patch+json", status+`1}}`)
	assert.Equal(t, http.StatusCreated, c.say("POST", pods+"/web/eviction", "application/json", eviction).code)
	assert.Equal(t, float64(0), c.say("GET", budgets+"/web", "", "").field("status", "disruptionsAllowed"))
}

// A dry run of an eviction leaves the pod, whether the query or the body requests it.
func TestADryRunEvictsNothing(t *testing.T) {
	const pods = "/api/v1/namespaces/default/pods"
	c := converse(t)
	c.post(pods, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	const plain = `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"}}`
	assert.Equal(t, http.StatusCreated, c.say("POST", pods+"/web/eviction?dryRun=All", "application/json", plain).code)
	assert.Equal(t, http.StatusOK, c.say("GET", pods+"/web", "", "").code)
	assert.Equal(t, http.StatusCreated, c.say("POST", pods+"/web/eviction", "application/json",
		`{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web"},"deleteOptions":{"dryRun":["All"]}}`).code)
	assert.Equal(t, http.StatusOK, c.say("GET", pods+"/web", "", "").code)
	assert.Equal(t, http.StatusCreated, c.say("POST", pods+"/web/eviction", "application/json", plain).code)
	assert.Equal(t, http.StatusNotFound, c.say("GET", pods+"/web", "", "").code)
}
