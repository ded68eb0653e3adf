package apiserver_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kubeletaccess"
	"github.com/csisim/csisim/internal/api/rbac"
	"github.com/csisim/csisim/internal/world/store"
)

// ruled is a server on which the service account robot has the permissions of roles.
type ruled struct {
	*accounts
	robot      string // its token
	missing    rbac.Missing
	authorizer *rbac.Authorizer
}

func newRuled(t *testing.T, roles ...string) *ruled {
	s := kind.NewStore(store.Options{})
	r := &ruled{accounts: &accounts{conversation: &conversation{t, apiserver.New(s, apiserver.Options{Token: "admin"})}}}
	r.authorizer = rbac.New(s, func(l rbac.Lack) { r.missing.Add(l) })
	authorizer, err := kubeletaccess.New(s, r.authorizer)
	require.NoError(t, err)
	r.server.AuthorizeBy(authorizer)
	r.admin("POST", robots, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}")
	for _, role := range roles {
		r.make(role)
	}
	r.robot = r.token("")
	return r
}

// make creates a role, or a binding of robot to a role: "ClusterRole reader: {…rules…}".
func (r *ruled) make(role string) {
	r.t.Helper()
	kindAndName, rules, isRole := strings.Cut(role, ": ")
	kind, name, _ := strings.Cut(kindAndName, " ")
	path := "/apis/rbac.authorization.k8s.io/v1/namespaces/default/" + strings.ToLower(kind) + "s"
	if strings.HasPrefix(kind, "Cluster") {
		path = "/apis/rbac.authorization.k8s.io/v1/" + strings.ToLower(kind) + "s"
	}
	body := "{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name + "}, "
	if isRole {
		r.admin("POST", path, body+"rules: ["+rules+"]}")
		return
	}
	of := strings.TrimSuffix(kind, "Binding")
	r.admin("POST", path, body+"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: "+of+", name: "+name+"}, subjects: [{kind: ServiceAccount, name: robot, namespace: default}]}")
}

// asks sends a request of robot.
func (r *ruled) asks(method, path, body string, headers ...string) said {
	r.t.Helper()
	contentType := "application/yaml"
	if method == "PATCH" {
		contentType = "application/apply-patch+yaml"
	}
	return r.say(method, path, contentType, body, append([]string{bearing, "Bearer " + r.robot}, headers...)...)
}

func TestARequestNeedsARuleForItsVerbAndResource(t *testing.T) {
	r := newRuled(t,
		`ClusterRole reader: {apiGroups: [storage.k8s.io], resources: [storageclasses], verbs: [get, list]}, {apiGroups: [""], resources: [nodes], verbs: [list], resourceNames: [a]}, {nonResourceURLs: [/openapi/*], verbs: [get]}`,
		"ClusterRoleBinding reader",
		`Role writer: {apiGroups: [""], resources: [pods, configmaps], verbs: [create, delete]}, {apiGroups: [""], resources: [pods/exec], verbs: [get]}, {apiGroups: [""], resources: [configmaps], verbs: [patch]}`,
		"RoleBinding writer")
	const classes = "/apis/storage.k8s.io/v1/storageclasses"
	cannot := func(what string) string { return `User "system:serviceaccount:default:robot" cannot ` + what }
	atAll := ` in API group "storage.k8s.io" at the cluster scope`
	inDefault := ` in API group "" in the namespace "default"`
	for _, try := range []struct{ method, path, refusal string }{
		{"GET", classes, ""},
		{"GET", classes + "?watch=true", "storageclasses.storage.k8s.io is forbidden: " + cannot(`watch resource "storageclasses"`) + atAll},
		{"GET", classes + "?watch=0", ""},
		{"GET", "/apis/storage.k8s.io/v1/watch/storageclasses", "storageclasses.storage.k8s.io is forbidden: " + cannot(`watch resource "storageclasses"`) + atAll},
		{"HEAD", classes + "/x", ""},
		{"DELETE", classes, "storageclasses.storage.k8s.io is forbidden: " + cannot(`deletecollection resource "storageclasses"`) + atAll},
		{"DELETE", classes + "/x", `storageclasses.storage.k8s.io "x" is forbidden: ` + cannot(`delete resource "storageclasses"`) + atAll},
		{"GET", "/api/v1/nodes?fieldSelector=metadata.name%3Da", ""},
		{"GET", "/api/v1/nodes", "nodes is forbidden: " + cannot(`list resource "nodes" in API group "" at the cluster scope`)},
		{"POST", pods + "/p/exec", `pods "p" is forbidden: ` + cannot(`create resource "pods/exec"`) + inDefault},
		{"GET", pods + "/p/exec?command=ls&stdout=1", `pods "p" is forbidden: ` + cannot(`create resource "pods/exec"`) + inDefault},
		{"DELETE", "/api/v1/namespaces/default", `namespaces "default" is forbidden: ` + cannot(`delete resource "namespaces"`) + inDefault},
		{"GET", "/apis/no.such.group/v1/things", `things.no.such.group is forbidden: ` + cannot(`list resource "things" in API group "no.such.group" at the cluster scope`)},
		{"GET", "/openapi/v3", ""},
		{"GET", "/metrics", `forbidden: ` + cannot(`get path "/metrics"`)},
	} {
		answer := r.asks(try.method, try.path, "")
		if try.refusal == "" {
			assert.NotEqual(t, http.StatusForbidden, answer.code, "%s %s", try.method, try.path)
			continue
		}
		assert.Equal(t, http.StatusForbidden, answer.code, "%s %s", try.method, try.path)
		assert.Equal(t, try.refusal, answer.field("message"), "%s %s", try.method, try.path)
	}
}

func TestAPatchThatMakesAnObjectNeedsTheRuleToCreateIt(t *testing.T) {
	r := newRuled(t, `Role patcher: {apiGroups: [""], resources: [configmaps], verbs: [patch]}`, "RoleBinding patcher")
	const one = "/api/v1/namespaces/default/configmaps/one"
	const body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one}, data: {a: b}}"
	answer := r.asks("PATCH", one+"?fieldManager=robot", body)
	assert.Equal(t, `configmaps "one" is forbidden: User "system:serviceaccount:default:robot" cannot create resource "configmaps" in API group "" in the namespace "default"`, answer.field("message"))
	r.admin("POST", "/api/v1/namespaces/default/configmaps", body)
	assert.Equal(t, http.StatusOK, r.asks("PATCH", one+"?fieldManager=robot&force=true", body).code)
}

func TestWithoutATokenAClientIsAnonymous(t *testing.T) {
	r := newRuled(t)
	assert.Equal(t, `pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope`, r.say("GET", "/api/v1/pods", "", "").field("message"))
	assert.Equal(t, http.StatusUnauthorized, r.say("GET", "/api/v1/pods", "", "", bearing, "Bearer wrong").code)
}

func TestAWriteThatGrantsRightsItsAuthorLacksIsForbidden(t *testing.T) {
	const pods = `{apiGroups: [""], resources: [pods], verbs: [get, list]}`
	const roles = `{apiGroups: [rbac.authorization.k8s.io], resources: [roles, clusterroles, rolebindings], verbs: [create, patch]}`
	r := newRuled(t,
		"ClusterRole mine: "+pods+", "+roles, "ClusterRoleBinding mine",
		`ClusterRole more: {apiGroups: [""], resources: [secrets], verbs: [get, list]}`)
	granting := func(lines ...string) string {
		return `user "system:serviceaccount:default:robot" (groups=["system:serviceaccounts" "system:serviceaccounts:default" "system:authenticated"]) ` +
			"is attempting to grant RBAC permissions not currently held:\n" + strings.Join(lines, "\n")
	}
	const api = "/apis/rbac.authorization.k8s.io/v1"
	body := func(kind, name, spec string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name + "}, " + spec + "}"
	}
	bound := func(kind, name string) string {
		return "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: " + kind + ", name: " + name + "}, subjects: [{kind: User, name: ann}]"
	}
	for _, try := range []struct{ path, body, refusal string }{
		{"/namespaces/default/roles", body("Role", "a", "rules: ["+pods+"]"), ""},
		{"/namespaces/default/roles", body("Role", "b", `rules: [{apiGroups: [""], resources: [pods, secrets], verbs: [get, delete]}]`),
			`roles.rbac.authorization.k8s.io "b" is forbidden: ` + granting(`{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}`, `{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}`)},
		{"/clusterroles", body("ClusterRole", "c", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}"),
			`clusterroles.rbac.authorization.k8s.io "c" is forbidden: must have cluster-admin privileges to use the aggregationRule`},
		{"/namespaces/default/rolebindings", body("RoleBinding", "d", bound("ClusterRole", "mine")), ""},
		{"/namespaces/default/rolebindings", body("RoleBinding", "e", bound("ClusterRole", "more")),
			`rolebindings.rbac.authorization.k8s.io "e" is forbidden: ` + granting(`{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`)},
		{"/namespaces/default/rolebindings", body("RoleBinding", "f", bound("Role", "nowhere")), `role.rbac.authorization.k8s.io "nowhere" not found`},
	} {
		answer := r.asks("POST", api+try.path, try.body)
		if try.refusal == "" {
			require.Equal(t, http.StatusCreated, answer.code, answer.text)
			continue
		}
		assert.Equal(t, try.refusal, answer.field("message"), try.body)
	}
	r.make(`Role lifts: {apiGroups: [rbac.authorization.k8s.io], resources: [roles, clusterroles], verbs: [escalate, bind]}`)
	r.make("RoleBinding lifts")
	assert.Equal(t, http.StatusCreated, r.asks("POST", api+"/namespaces/default/roles", body("Role", "b", "rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]")).code)
	assert.Equal(t, http.StatusCreated, r.asks("POST", api+"/namespaces/default/rolebindings", body("RoleBinding", "e", bound("ClusterRole", "more"))).code)
}

func TestReviewsAnswerByTheRoles(t *testing.T) {
	reviews := `{apiGroups: [authorization.k8s.io], resources: ['*'], verbs: [create]}`
	r := newRuled(t, `ClusterRole reader: {apiGroups: [""], resources: [pods], verbs: [get]}, `+reviews, "ClusterRoleBinding reader")
	may := func(kind, spec string) said {
		return r.asks("POST", "/apis/authorization.k8s.io/v1/"+strings.ToLower(kind)+"s", "{apiVersion: authorization.k8s.io/v1, kind: "+kind+", spec: {"+spec+"}}")
	}
	const getPods, listPods = "resourceAttributes: {verb: get, resource: pods, namespace: x}", "resourceAttributes: {verb: list, resource: pods}"
	own := may("SelfSubjectAccessReview", getPods)
	assert.Equal(t, true, own.field("status", "allowed"))
	assert.Equal(t, `RBAC: allowed by ClusterRoleBinding "reader" of ClusterRole "reader" to ServiceAccount "robot/default"`, own.field("status", "reason"))
	assert.Equal(t, false, may("SelfSubjectAccessReview", listPods).field("status", "allowed"))
	assert.Equal(t, true, may("SubjectAccessReview", "user: 'system:serviceaccount:default:robot', "+getPods).field("status", "allowed"))
	assert.Equal(t, false, may("SubjectAccessReview", "user: ann, "+getPods).field("status", "allowed"))
	rules := may("SelfSubjectRulesReview", "namespace: default")
	assert.Equal(t, []any{
		map[string]any{"verbs": []any{"get"}, "apiGroups": []any{""}, "resources": []any{"pods"}},
		map[string]any{"verbs": []any{"create"}, "apiGroups": []any{"authorization.k8s.io"}, "resources": []any{"*"}},
	}, rules.field("status", "resourceRules"))
	assert.Empty(t, r.missing.Manifest(), "a question is no request")
}

// Missing rules are listed for the role that could contain them, as YAML that can be pasted below
// the role's rules.
func TestMissingRulesAreListedByRole(t *testing.T) {
	r := newRuled(t,
		`ClusterRole runner: {apiGroups: [""], resources: [pods], verbs: [get]}`, "ClusterRoleBinding runner",
		`Role leader: {apiGroups: [""], resources: [pods], verbs: [get]}`, "RoleBinding leader")
	for _, path := range []string{
		"/apis/storage.k8s.io/v1/volumeattachments", "/apis/storage.k8s.io/v1/volumeattachments?watch=1", "/apis/storage.k8s.io/v1/volumeattachments",
		"/apis/storage.k8s.io/v1/volumeattachments/a/status", "/api/v1/nodes", "/metrics", "/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
	} {
		r.asks("GET", path, "")
	}
	assert.Equal(t, `# ClusterRole runner lacks these rules:
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [volumeattachments/status]
  verbs: [get]
- apiGroups: [""]
  resources: [nodes]
  verbs: [list]
- nonResourceURLs: [/metrics]
  verbs: [get]
# Role leader in namespace default lacks these rules:
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [get]
`, r.missing.Manifest())
}

// Given a program that sends requests before the roles of its folder are applied, when they are
// applied, then only permissions that the roles lack are reported as missing.
func TestRulesOfARoleThatIsAppliedLateAreNotMissing(t *testing.T) {
	r := newRuled(t)
	r.asks("GET", "/api/v1/nodes", "")
	r.asks("GET", "/api/v1/pods", "")
	r.make(`ClusterRole runner: {apiGroups: [""], resources: [nodes], verbs: [list]}`)
	r.make("ClusterRoleBinding runner")
	r.missing.DropAllowed(r.authorizer)
	assert.Contains(t, r.missing.Manifest(), "resources: [pods]")
	assert.NotContains(t, r.missing.Manifest(), "nodes")
}
