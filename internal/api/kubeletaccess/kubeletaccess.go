// Package kubeletaccess limits the API requests of kubelets. It has the Node authorizer and the
// admission plugin NodeRestriction of the real server. Only csisim up imports it.
// (kubernetes v1.36.3, plugin/pkg/auth/authorizer/node and plugin/pkg/admission/noderestriction)
package kubeletaccess

import (
	"errors"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/rbac"
	"github.com/csisim/csisim/internal/world/store"
)

var _ apiserver.Authorizer = (*Authorizer)(nil)

// Authorizer permits the requests that kubelets need. Roles and bindings decide about other
// requests, as with --authorization-mode=Node,RBAC.
type Authorizer struct {
	*rbac.Authorizer
	store *store.Store
	rules []rbacv1.PolicyRule // the same for all nodes
}

// New returns an authorizer for the nodes of a store. byRoles decides about other requests.
func New(s *store.Store, byRoles *rbac.Authorizer) (*Authorizer, error) {
	rules, err := rbac.DefaultRules("system:node")
	return &Authorizer{Authorizer: byRoles, store: s, rules: rules}, err
}

// Authorize reports whether a user may do something. Reasons of both authorizers are joined.
func (a *Authorizer) Authorize(asked authorizationv1.SubjectAccessReviewSpec) authorizationv1.SubjectAccessReviewStatus {
	refusal := ""
	if node, isNode := nodeOf(asked.User, asked.Groups); isNode && !slices.Contains(asked.Groups, rbac.Superusers) {
		var allowed bool
		if allowed, refusal = a.authorizeNode(node, asked); allowed {
			return authorizationv1.SubjectAccessReviewStatus{Allowed: true}
		}
	}
	answer := a.Authorizer.Authorize(asked)
	if !answer.Allowed {
		answer.Reason = strings.Join(slices.DeleteFunc([]string{refusal, answer.Reason}, isEmpty), "\n")
	}
	return answer
}

func isEmpty(text string) bool { return text == "" }

// errNotResolved says that the rights of a node cannot be listed.
var errNotResolved = errors.New("node authorizer does not support user rule resolution")

// Rules returns the rules of a user in a namespace; for nodes they are not complete.
func (a *Authorizer) Rules(user authenticationv1.UserInfo, namespace string) (rules []rbacv1.PolicyRule, complete bool, err error) {
	rules, err = a.Authorizer.Rules(user, namespace)
	if _, isNode := nodeOf(user.Username, user.Groups); isNode {
		return rules, false, utilerrors.NewAggregate([]error{errNotResolved, err})
	}
	return rules, true, err
}

// nodeOf returns the name of the node, if the user is its kubelet. [pkg/auth/nodeidentifier]
func nodeOf(user string, groups []string) (node string, isNode bool) {
	node, isNode = strings.CutPrefix(user, "system:node:")
	return node, isNode && slices.Contains(groups, "system:nodes")
}
