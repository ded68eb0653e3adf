// Package rbac authorizes API requests by roles and bindings, like the RBAC authorizer of the real
// server. Only csisim up imports it. (kubernetes v1.36.3, plugin/pkg/auth/authorizer/rbac and
// pkg/registry/rbac)
package rbac

import (
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Authorizer reads roles and bindings from the store at each call, so that a binding takes effect
// with its write. Callers need exclusive access to the store.
type Authorizer struct {
	store   *store.Store
	refused func(Lack)
}

// New returns an authorizer for the roles in the store. It calls refused with the missing rule of
// each refused request of a service account.
func New(s *store.Store, refused func(Lack)) *Authorizer {
	return &Authorizer{store: s, refused: refused}
}

// Superusers have all rights, regardless of the roles.
const Superusers = "system:masters"

// Authorize reports whether a user has a permission, and through which binding.
func (a *Authorizer) Authorize(asked authorizationv1.SubjectAccessReviewSpec) (answer authorizationv1.SubjectAccessReviewStatus) {
	if slices.Contains(asked.Groups, Superusers) {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	}
	namespace := ""
	if asked.ResourceAttributes != nil {
		namespace = asked.ResourceAttributes.Namespace
	}
	missing := a.visit(subject{asked.User, asked.Groups}, namespace, func(from source, rule *rbacv1.PolicyRule) bool {
		if !allows(rule, asked) {
			return true
		}
		answer = authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "RBAC: allowed by " + from.String()}
		return false
	})
	if !answer.Allowed && missing != nil {
		answer.Reason = fmt.Sprintf("RBAC: %v", missing)
	}
	return answer
}

// Refused reports a request of a service account that was refused.
func (a *Authorizer) Refused(asked authorizationv1.SubjectAccessReviewSpec) {
	if lack, ok := a.lackOf(asked); ok {
		a.refused(lack)
	}
}

// Rules returns the rules that apply to a user in a namespace. The error names missing roles of
// bindings. The other bindings provide the rules.
func (a *Authorizer) Rules(user authenticationv1.UserInfo, namespace string) (rules []rbacv1.PolicyRule, err error) {
	err = a.visit(subject{user.Username, user.Groups}, namespace, func(_ source, rule *rbacv1.PolicyRule) bool {
		rules = append(rules, *rule)
		return true
	})
	return rules, err
}

// fullAuthority are the rules of cluster-admin.
var fullAuthority = []rbacv1.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}
