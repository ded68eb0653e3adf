package apiserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// accounts is a server with a service account, a pod of that account, and a clock.
type accounts struct {
	*conversation
	store *store.Store
	now   time.Time
}

const (
	robots  = "/api/v1/namespaces/default/serviceaccounts"
	pods    = "/api/v1/namespaces/default/pods"
	bearing = "Authorization"
)

func newAccounts(t *testing.T) *accounts {
	a := &accounts{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return a.now }
	a.store = kind.NewStore(store.Options{Now: clock})
	a.conversation = &conversation{t, apiserver.New(a.store, apiserver.Options{Token: "admin", Now: clock})}
	a.admin("POST", robots, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}")
	a.admin("POST", pods, "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {serviceAccountName: robot, nodeName: node-a, terminationGracePeriodSeconds: 0, containers: [{name: c, image: i}]}}")
	return a
}

func (a *accounts) admin(method, path, body string) said {
	a.t.Helper()
	answer := a.say(method, path, "application/yaml", body, bearing, "Bearer admin")
	require.Less(a.t, answer.code, 300, answer.text)
	return answer
}

// token requests a token, with additional fields in its spec.
func (a *accounts) token(spec string) string {
	a.t.Helper()
	answer := a.admin("POST", robots+"/robot/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {"+spec+"}}")
	return answer.field("status", "token").(string)
}

func (a *accounts) review(token, audiences string) said {
	a.t.Helper()
	return a.admin("POST", "/apis/authentication.k8s.io/v1/tokenreviews",
		"{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: '"+token+"', audiences: ["+audiences+"]}}")
}

const boundToPod = "boundObjectRef: {apiVersion: v1, kind: Pod, name: web}"

func TestATokenOfAServiceAccountAuthenticates(t *testing.T) {
	a := newAccounts(t)
	token := a.token(boundToPod)
	answer := a.say("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "application/yaml",
		"{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}", bearing, "bearer "+token)
	require.Equal(t, http.StatusCreated, answer.code, answer.text)
	who := answer.field("status", "userInfo").(map[string]any)
	account := a.admin("GET", robots+"/robot", "")
	pod := a.admin("GET", pods+"/web", "")
	assert.Equal(t, "system:serviceaccount:default:robot", who["username"])
	assert.Equal(t, account.field("metadata", "uid"), who["uid"])
	assert.Equal(t, []any{"system:serviceaccounts", "system:serviceaccounts:default", "system:authenticated"}, who["groups"])
	extra := who["extra"].(map[string]any)
	assert.Equal(t, []any{"web"}, extra["authentication.kubernetes.io/pod-name"])
	assert.Equal(t, []any{pod.field("metadata", "uid")}, extra["authentication.kubernetes.io/pod-uid"])
	assert.Equal(t, []any{"node-a"}, extra["authentication.kubernetes.io/node-name"])
	assert.Regexp(t, `^\[JTI=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\]$`, fmt.Sprint(extra["authentication.kubernetes.io/credential-id"]))

	reviewed := a.review(token, "")
	assert.Equal(t, true, reviewed.field("status", "authenticated"))
	assert.Equal(t, []any{"https://kubernetes.default.svc"}, reviewed.field("status", "audiences"))
	assert.Equal(t, who, reviewed.field("status", "user"))
	assert.Equal(t, "kubernetes-admin", a.review("admin", "").field("status", "user", "username"))
}

func TestATokenIsForItsAudiences(t *testing.T) {
	a := newAccounts(t)
	token := a.token("audiences: [vault, store]")
	assert.Equal(t, []any{"vault"}, a.review(token, "vault, other").field("status", "audiences"))
	assert.Equal(t, `[invalid bearer token, token audiences ["vault" "store"] is invalid for the target audiences ["https://kubernetes.default.svc"]]`,
		a.review(token, "").field("status", "error"))
	assert.Equal(t, http.StatusUnauthorized, a.say("GET", pods, "", "", bearing, "Bearer "+token).code)
}

// A request with a bad token always gets the same error; a TokenReview gives the reason.
func TestInvalidTokensAreRejected(t *testing.T) {
	for name, test := range map[string]struct {
		spec    string
		happens func(a *accounts)
		changed func(token string) string
		says    string
	}{
		"one that has expired":                       {spec: "expirationSeconds: 600", happens: func(a *accounts) { a.now = a.now.Add(11*time.Minute + time.Second) }, says: "[invalid bearer token, service account token has expired]"},
		"one that is not valid yet":                  {happens: func(a *accounts) { a.now = a.now.Add(-time.Hour) }, says: "[invalid bearer token, service account token is not valid yet]"},
		"one with a deleted account":                 {happens: func(a *accounts) { a.admin("DELETE", robots+"/robot", "") }, says: `[invalid bearer token, serviceaccounts "robot" not found]`},
		"one with an account that was created again": {happens: (*accounts).renew, says: "[invalid bearer token, service account UID ("},
		"one with a deleted pod":                     {spec: boundToPod, happens: func(a *accounts) { a.admin("DELETE", pods+"/web?gracePeriodSeconds=0", "") }, says: "[invalid bearer token, service account token has been invalidated]"},
		"one with another signature":                 {changed: func(token string) string { return token[:len(token)-6] + "AAAAAA" }, says: "[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]"},
		"one that says more than was signed": {changed: func(token string) string {
			p := strings.Split(token, ".")
			return p[0] + "." + p[1][:len(p[1])-4] + "." + p[2]
		}, says: "invalid bearer token"},
		"one that is no token": {changed: func(string) string { return "x" }, says: "invalid bearer token"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAccounts(t)
			token := a.token(test.spec)
			assert.Equal(t, http.StatusOK, a.say("GET", pods, "", "", bearing, "Bearer "+token).code)
			if test.happens != nil {
				test.happens(a)
			}
			if test.changed != nil {
				token = test.changed(token)
			}
			answer := a.say("GET", pods, "", "", bearing, "Bearer "+token)
			assert.Equal(t, http.StatusUnauthorized, answer.code)
			assert.Equal(t, "Unauthorized", answer.field("message"))
			reviewed := a.review(token, "")
			assert.Nil(t, reviewed.field("status", "authenticated"))
			assert.True(t, strings.HasPrefix(reviewed.field("status", "error").(string), test.says), reviewed.text)
		})
	}
}

func (a *accounts) renew() {
	a.admin("DELETE", robots+"/robot", "")
	a.admin("POST", robots, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}")
}

// Pods may start before the default account of their namespace is created, for example if a
// scenario runs before a live cluster serves clients. Their tokens are valid nevertheless, before
// and after.
func TestATokenThatIsOlderThanItsDefaultAccountIsGood(t *testing.T) {
	a := newAccounts(t)
	issued, err := kind.IssueToken(a.store, store.Key{Namespace: "default", Name: "default"}, &authenticationv1.TokenRequest{})
	require.NoError(t, err)
	token := issued.Status.Token
	assert.Equal(t, http.StatusOK, a.say("GET", pods, "", "", bearing, "Bearer "+token).code)
	a.admin("POST", robots, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}")
	assert.Equal(t, http.StatusOK, a.say("GET", pods, "", "", bearing, "Bearer "+token).code)
	assert.Equal(t, true, a.review(token, "").field("status", "authenticated"))
}

// The token that a pod finds in its default volume is valid for a year.
func TestTheTokenOfAPodIsGoodForAYear(t *testing.T) {
	a := newAccounts(t)
	ofPod, ofAccount := a.token("expirationSeconds: 3607, "+boundToPod), a.token("expirationSeconds: 3607")
	a.now = a.now.Add(360 * 24 * time.Hour)
	assert.Equal(t, http.StatusOK, a.say("GET", pods, "", "", bearing, "Bearer "+ofPod).code)
	assert.Equal(t, http.StatusUnauthorized, a.say("GET", pods, "", "", bearing, "Bearer "+ofAccount).code)
}

func TestATokenReviewNeedsAToken(t *testing.T) {
	a := newAccounts(t)
	answer := a.say("POST", "/apis/authentication.k8s.io/v1/tokenreviews", "application/yaml",
		"{apiVersion: authentication.k8s.io/v1, kind: TokenReview}", bearing, "Bearer admin")
	assert.Equal(t, http.StatusBadRequest, answer.code)
	assert.Equal(t, "token is required for TokenReview in authentication", answer.field("message"))
}
