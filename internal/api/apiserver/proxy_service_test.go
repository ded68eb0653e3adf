package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// [pkg/registry/core/service/storage/storage.go: ResourceLocation]
func TestRequestsToServicesAreRefusedInOrder(t *testing.T) {
	c := converse(t)
	const services = "/api/v1/namespaces/default/services"
	c.post(services, `{"kind":"Service","apiVersion":"v1","metadata":{"name":"web"},"spec":{"ports":[{"name":"http","port":80}]}}`)
	c.post(services, `{"kind":"Service","apiVersion":"v1","metadata":{"name":"own"},"spec":{"ports":[{"name":"http","port":80}]}}`)
	c.post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", `{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1",
		"metadata":{"name":"own","labels":{"kubernetes.io/service-name":"own"}},"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],"ports":[{"name":"http","port":8080}]}`)
	for _, try := range []struct {
		name string
		code int
		says string
	}{
		{"missing", http.StatusNotFound, `services "missing" not found`},
		{"a:b:c:d", http.StatusBadRequest, `invalid service request "a:b:c:d"`},
		{"web:81", http.StatusServiceUnavailable, `no service port 81 found for service "web"`},
		{"web:80", http.StatusServiceUnavailable, `no endpoints available for service "web:80"`},
		{"own:other", http.StatusServiceUnavailable, `no endpoints available for service "own:other"`},
	} {
		answer := c.say("GET", services+"/"+try.name+"/proxy/", "", "")
		assert.Equal(t, try.code, answer.code, try.name)
		assert.Equal(t, try.says, answer.field("message"), try.name)
	}
	for _, name := range []string{"own:80", "own:http"} {
		assert.Equal(t, http.StatusNotImplemented, c.say("GET", services+"/"+name+"/proxy/", "", "").code, "there is no socket")
	}
}
