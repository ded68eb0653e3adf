package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A connection into a pod is refused for the first error in the real server's order: its container,
// its node, a request that does not open a connection. [pkg/registry/core/pod/strategy.go:
// streamLocation, validateContainer]
func TestConnectionsIntoPodsAreRefusedInOrder(t *testing.T) {
	c := converse(t)
	const pods = "/api/v1/namespaces/default/pods"
	c.post(pods, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"new"},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
	c.post(pods, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web"},"spec":{"nodeName":"n","initContainers":[{"name":"first","image":"i"}],"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}}`)
	for _, try := range []struct {
		path string
		code int
		says string
	}{
		{"/new/exec?command=ls", http.StatusBadRequest, "pod new does not have a host assigned"},
		{"/new/exec?command=ls&container=b", http.StatusBadRequest, "container b is not valid for pod new"},
		{"/web/attach", http.StatusBadRequest, "a container name must be specified for pod web, choose one of: [first a b]"},
		{"/web/attach?container=a&stdout=1", http.StatusBadRequest, "Upgrade request required"},
		{"/web/exec?container=first&command=ls", http.StatusBadRequest, "Upgrade request required"},
		{"/new/portforward", http.StatusBadRequest, "pod new does not have a host assigned"},
		{"/web/portforward", http.StatusBadRequest, "Upgrade request required"},
		{"/web/log", http.StatusBadRequest, "a container name must be specified for pod web, choose one of: [first a b]"},
		{"/missing/attach", http.StatusNotFound, `pods "missing" not found`},
	} {
		for _, method := range []string{"GET", "POST"} {
			if answer := c.say(method, pods+try.path, "", ""); method == "GET" || try.path != "/web/log" {
				assert.Equal(t, try.code, answer.code, try.path)
				assert.Equal(t, try.says, answer.field("message"), try.path)
			}
		}
	}
	passedOn := c.say("GET", pods+"/web:80/proxy/", "", "")
	assert.Equal(t, http.StatusNotImplemented, passedOn.code, "nor for those that are passed on")
	upgraded := c.say("POST", pods+"/web/exec?container=a&command=ls", "", "", "Connection", "Upgrade", "Upgrade", "SPDY/3.1")
	assert.Equal(t, http.StatusNotImplemented, upgraded.code, "there is no socket")
}
