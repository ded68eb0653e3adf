package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Given a system priority class and a user's priority class, when both are deleted by name, then
// the server rejects the deletion of the system class. A deletion of the collection removes it,
// because DeleteCollection does not call the REST's own Delete.
// [pkg/registry/scheduling/priorityclass/storage: REST.Delete]
func TestSystemPriorityClassesAreNotDeleted(t *testing.T) {
	const classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
	c := converse(t)
	c.post(classes, `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"system-node-critical"},"value":2000001000}`)
	c.post(classes, `{"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","metadata":{"name":"mine"},"value":7}`)
	answer := c.say("DELETE", classes+"/system-node-critical", "", "")
	assert.Equal(t, http.StatusForbidden, answer.code)
	assert.Equal(t, `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: this is a system priority class and cannot be deleted`, answer.field("message"))
	assert.Equal(t, http.StatusOK, c.say("DELETE", classes+"/mine", "", "").code)
	assert.Equal(t, http.StatusOK, c.say("DELETE", classes, "", "").code)
	assert.Equal(t, http.StatusNotFound, c.say("GET", classes+"/system-node-critical", "", "").code)
}
