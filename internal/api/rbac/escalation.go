package rbac

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/csisim/csisim/internal/world/store"
)

// Grant rejects a role or binding that grants rights that its author lacks. old is the replaced
// object; nil for a new one.
func (a *Authorizer) Grant(author authenticationv1.UserInfo, obj, old store.Object) error {
	if slices.Contains(author.Groups, Superusers) {
		return nil
	}
	g := grant{Authorizer: a, author: author}
	switch obj := obj.(type) {
	case *rbacv1.Role:
		return g.role("roles", obj.Namespace, obj.Name, obj.Rules)
	case *rbacv1.ClusterRole:
		before, _ := old.(*rbacv1.ClusterRole)
		return g.clusterRole(obj, before)
	case *rbacv1.RoleBinding:
		return g.binding("rolebindings", obj.Namespace, obj.Name, obj.RoleRef)
	case *rbacv1.ClusterRoleBinding:
		return g.binding("clusterrolebindings", "", obj.Name, obj.RoleRef)
	}
	return nil
}

// grant is a write of an author that grants rights.
type grant struct {
	*Authorizer
	author authenticationv1.UserInfo
}

func (g grant) role(resource, namespace, name string, rules []rbacv1.PolicyRule) error {
	if g.may("escalate", resource, namespace, name) {
		return nil
	}
	if err := g.has(namespace, rules); err != nil {
		return apierrors.NewForbidden(rbacv1.Resource(resource), name, err)
	}
	return nil
}

// clusterRole requires all rights for an aggregated role, since it may collect any rules.
func (g grant) clusterRole(role, before *rbacv1.ClusterRole) error {
	if err := g.role("clusterroles", "", role.Name, role.Rules); err != nil {
		return err
	}
	if !gathers(role) && !gathers(before) || g.may("escalate", "clusterroles", "", role.Name) || g.has("", fullAuthority) == nil {
		return nil
	}
	return apierrors.NewForbidden(rbacv1.Resource("clusterroles"), role.Name, errors.New("must have cluster-admin privileges to use the aggregationRule"))
}

func gathers(role *rbacv1.ClusterRole) bool {
	return role != nil && role.AggregationRule != nil && len(role.AggregationRule.ClusterRoleSelectors) > 0
}

func (g grant) binding(resource, namespace, name string, role rbacv1.RoleRef) error {
	if g.may("bind", strings.ToLower(role.Kind)+"s", namespace, role.Name) {
		return nil
	}
	rules, err := g.rulesOf(role, namespace)
	if err != nil {
		return err
	}
	if err := g.has(namespace, rules); err != nil {
		return apierrors.NewForbidden(rbacv1.Resource(resource), name, err)
	}
	return nil
}

// may reports whether the author has one of the two verbs that lift this restriction.
func (g grant) may(verb, resource, namespace, name string) bool {
	return g.Authorize(authorizationv1.SubjectAccessReviewSpec{
		User: g.author.Username, Groups: g.author.Groups,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: verb, Group: rbacv1.GroupName, Resource: resource, Namespace: namespace, Name: name},
	}).Allowed
}

// has returns an error that names each right of the rules that the author lacks.
func (g grant) has(namespace string, rules []rbacv1.PolicyRule) error {
	own, unresolved := g.Rules(g.author, namespace)
	ok, lacking := validation.Covers(own, rules)
	if ok {
		return nil
	}
	var lines []string
	for _, rule := range joined(lacking) {
		lines = append(lines, inOneLine(rule))
	}
	slices.Sort(lines)
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s", g.author.Username, g.author.Groups, strings.Join(slices.Compact(lines), "\n"))
	if unresolved != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{unresolved})
	}
	return errors.New(message)
}

// joined combines the verbs of each resource.
func joined(rules []rbacv1.PolicyRule) (all []rbacv1.PolicyRule) {
	for _, rule := range rules {
		same := slices.IndexFunc(all, func(r rbacv1.PolicyRule) bool {
			return len(rule.NonResourceURLs) == 0 && len(r.NonResourceURLs) == 0 && slices.Equal(r.APIGroups, rule.APIGroups) &&
				slices.Equal(r.Resources, rule.Resources) && slices.Equal(r.ResourceNames, rule.ResourceNames)
		})
		if same < 0 {
			all = append(all, *rule.DeepCopy())
			continue
		}
		all[same].Verbs = append(all[same].Verbs, rule.Verbs...)
	}
	return all
}

// inOneLine returns a rule as the real server writes it in an error.
func inOneLine(rule rbacv1.PolicyRule) string {
	var parts []string
	for _, field := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", rule.APIGroups}, {"Resources", rule.Resources}, {"NonResourceURLs", rule.NonResourceURLs},
		{"ResourceNames", rule.ResourceNames}, {"Verbs", rule.Verbs},
	} {
		if len(field.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", field.name, field.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
