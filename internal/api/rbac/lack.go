package rbac

import (
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/csisim/csisim/internal/api/kind"
)

// Lack is the rule that a service account would need for a refused request.
type Lack struct {
	Namespace, Account string // of the service account
	// Where is the namespace of the request, empty for the cluster.
	Where string
	// Role is a role of the account that could contain the rule; the zero value if the account has
	// none there.
	Role rbacv1.RoleRef
	Rule rbacv1.PolicyRule

	asked authorizationv1.SubjectAccessReviewSpec
}

// What returns the refused action: list storageclasses.storage.k8s.io.
func (l Lack) What() string {
	if len(l.Rule.NonResourceURLs) > 0 {
		return l.Rule.Verbs[0] + " " + l.Rule.NonResourceURLs[0]
	}
	what := l.Rule.Verbs[0] + " " + l.Rule.Resources[0]
	if group := l.Rule.APIGroups[0]; group != "" {
		what += "." + group
	}
	if l.Where != "" {
		what += " in namespace " + l.Where
	}
	return what
}

func (a *Authorizer) lackOf(asked authorizationv1.SubjectAccessReviewSpec) (Lack, bool) {
	account, isAccount := strings.CutPrefix(asked.User, kind.AccountPrefix)
	namespace, name, _ := strings.Cut(account, ":")
	if !isAccount {
		return Lack{}, false
	}
	l := Lack{Namespace: namespace, Account: name, Rule: ruleFor(asked), asked: asked}
	if r := asked.ResourceAttributes; r != nil {
		l.Where = r.Namespace
	}
	// Only bindings of the account itself count, since all accounts share its groups.
	for from := range a.bindingsOf(subject{user: asked.User}, l.Where) {
		l.Role = from.role
		if from.role.Kind == "Role" {
			break // it is the narrowest
		}
	}
	return l, true
}

// ruleFor returns the smallest rule that allows a request.
func ruleFor(asked authorizationv1.SubjectAccessReviewSpec) rbacv1.PolicyRule {
	r := asked.ResourceAttributes
	if r == nil {
		n := asked.NonResourceAttributes
		return rbacv1.PolicyRule{Verbs: []string{n.Verb}, NonResourceURLs: []string{n.Path}}
	}
	resource := r.Resource
	if r.Subresource != "" {
		resource += "/" + r.Subresource
	}
	return rbacv1.PolicyRule{Verbs: []string{r.Verb}, APIGroups: []string{r.Group}, Resources: []string{resource}}
}
