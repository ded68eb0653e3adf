package apiserver_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

const nodesPath = "/api/v1/nodes"

// A request with Impersonate-User is answered as a request of that user, so that roles can be
// tested. [k8s.io/apiserver/pkg/endpoints/filters/impersonation]
func TestARequestIsAnsweredAsTheUserThatItImpersonates(t *testing.T) {
	r := newRuled(t,
		`ClusterRole reader: {apiGroups: [""], resources: [nodes], verbs: [list]}`, "ClusterRoleBinding reader")
	admin := func(method, path string, headers ...string) said {
		return r.say(method, path, "", "", append([]string{bearing, "Bearer admin"}, headers...)...)
	}
	const robot = "system:serviceaccount:default:robot"
	assert.Equal(t, http.StatusOK, admin("GET", nodesPath, "Impersonate-User", robot).code)
	answer := admin("DELETE", nodesPath+"/a", "Impersonate-User", robot)
	assert.Equal(t, http.StatusForbidden, answer.code)
	assert.Equal(t, `nodes "a" is forbidden: User "system:serviceaccount:default:robot" cannot delete resource "nodes" in API group "" at the cluster scope`, answer.field("message"))
	assert.Equal(t, http.StatusForbidden, admin("GET", nodesPath, "Impersonate-User", "jane").code)
	assert.Equal(t, http.StatusOK, admin("GET", nodesPath, "Impersonate-User", "jane", "Impersonate-Group", "system:masters").code)
	assert.Equal(t, http.StatusInternalServerError, admin("GET", nodesPath, "Impersonate-Group", "system:masters").code, "a group without a user")
}

// Impersonation needs the verb impersonate for the user, each group, the UID and each extra value.
func TestImpersonationNeedsItsOwnRules(t *testing.T) {
	r := newRuled(t,
		`ClusterRole actor: {apiGroups: [""], resources: [users], verbs: [impersonate], resourceNames: [jane]}, {apiGroups: [""], resources: [groups], verbs: [impersonate], resourceNames: [readers]}`,
		"ClusterRoleBinding actor")
	r.admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterroles",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: nodes}, rules: [{apiGroups: [""], resources: [nodes], verbs: [list]}]}`)
	r.admin("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
		`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: nodes}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: nodes}, subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: readers}]}`)
	assert.Equal(t, http.StatusForbidden, r.asks("GET", nodesPath, "").code)
	assert.Equal(t, http.StatusOK, r.asks("GET", nodesPath, "", "Impersonate-User", "jane", "Impersonate-Group", "readers").code)
	for want, headers := range map[string][]string{
		`users "joe" is forbidden: User "system:serviceaccount:default:robot" cannot impersonate resource "users" in API group "" at the cluster scope`:                                        {"Impersonate-User", "joe"},
		`groups "system:masters" is forbidden: User "system:serviceaccount:default:robot" cannot impersonate resource "groups" in API group "" at the cluster scope`:                           {"Impersonate-User", "jane", "Impersonate-Group", "system:masters"},
		`serviceaccounts "other" is forbidden: User "system:serviceaccount:default:robot" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"`:            {"Impersonate-User", "system:serviceaccount:default:other"},
		`uids.authentication.k8s.io "7" is forbidden: User "system:serviceaccount:default:robot" cannot impersonate resource "uids" in API group "authentication.k8s.io" at the cluster scope`: {"Impersonate-User", "jane", "Impersonate-Uid", "7"},
	} {
		answer := r.asks("GET", nodesPath, "", headers...)
		assert.Equal(t, http.StatusForbidden, answer.code)
		assert.Equal(t, want, answer.field("message"))
	}
}
