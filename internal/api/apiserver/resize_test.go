package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The processors and memory of a pod can be changed through the subresource resize, within its QoS
// class and its node's resources; its other fields cannot. [pkg/apis/core/validation:
// ValidatePodResize; plugin/pkg/admission/podresize]
func TestAPodIsResized(t *testing.T) {
	c := converse(t)
	const web, node = "/api/v1/namespaces/default/pods/web", "/api/v1/nodes/n"
	c.post("/api/v1/nodes", `{"kind":"Node","apiVersion":"v1","metadata":{"name":"n"}}`)
	c.say("PATCH", node+"/status", "application/merge-patch+json", `{"status":{"capacity":{"cpu":"2","memory":"4Gi"},"allocatable":{"cpu":"2","memory":"4Gi"}}}`)
	c.post("/api/v1/namespaces/default/pods", `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"nodeName":"n",
		"initContainers":[{"name":"i","image":"i"},{"name":"s","image":"i","restartPolicy":"Always"}],
		"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"100m","memory":"64Mi","ephemeral-storage":"1Gi"},"limits":{"memory":"128Mi"}}},{"name":"b","image":"i"}]}}`)
	const merge = "application/strategic-merge-patch+json"
	a := func(resources string) string {
		return `{"spec":{"containers":[{"name":"a","resources":` + resources + `}]}}`
	}
	for _, try := range []struct {
		path, body string
		code       int
		says       string
	}{
		{"", a(`{"requests":{"cpu":"200m"}}`), 422, "pod updates may not change fields other than"},
		{"/resize", a(`{"requests":{"cpu":null}}`), 422, "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"},
		{"/resize", a(`{"limits":{"memory":null}}`), 422, "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
		{"/resize", a(`{"requests":{"memory":"1Gi"}}`), 422, "spec.containers[0].resources.requests: Invalid value: \"1Gi\": must be less than or equal to memory limit of 128Mi"},
		{"/resize", a(`{"requests":{"ephemeral-storage":"2Gi"}}`), 422, "spec: Forbidden: only cpu and memory resources are mutable"},
		{"/resize", `{"spec":{"containers":[{"name":"a","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]}}`, 422, "spec: Forbidden: only cpu and memory resources are mutable"},
		{"/resize", `{"spec":{"containers":[{"name":"c","image":"i"}]}}`, 422, "spec.containers: Forbidden: containers may not be added or removed on resize"},
		{"/resize", `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1","memory":"128Mi"},"limits":{"cpu":"1","memory":"128Mi"}}},{"name":"b","resources":{"limits":{"cpu":"1","memory":"1Mi"}}}],` +
			`"initContainers":[{"name":"i","resources":{"limits":{"cpu":"1","memory":"1Mi"}}},{"name":"s","resources":{"limits":{"cpu":"1","memory":"1Mi"}}}]}}`, 422, "Pod QOS Class may not change as a result of resizing"},
		{"/resize", a(`{"requests":{"cpu":"3"}}`), 403, `pods "web" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000`},
		{"/resize", `{"spec":{"containers":[{"name":"a","image":"other","resources":{"requests":{"cpu":"200m"}}}]},"metadata":{"labels":{"x":"y"}}}`, 200, ""},
		{"/resize", `{"spec":{"initContainers":[{"name":"s","resources":{"requests":{"cpu":"50m"}}}]}}`, 200, ""},
		{"/resize", `{"spec":{"initContainers":[{"name":"i","resources":{"requests":{"cpu":"60m"}}}]}}`, 200, ""},
	} {
		answer := c.say("PATCH", web+try.path, merge, try.body)
		assert.Equal(t, try.code, answer.code, "%s\n%s", try.body, answer.text)
		if try.says != "" {
			assert.Contains(t, answer.field("message"), try.says)
		}
	}
	answer := c.say("GET", web+"/resize", "", "")
	assert.Equal(t, 200, answer.code)
	assert.NotContains(t, answer.text, "other", "the rest of the pod stays")
	assert.NotContains(t, answer.text, `"x":"y"`)
	for _, kept := range []string{`"cpu":"200m"`, `"cpu":"50m"`, `"cpu":"60m"`, `"generation":4`} {
		assert.Contains(t, answer.text, kept)
	}
}
