package rbac

import (
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// RulesAllow reports whether one of the rules allows the request.
func RulesAllow(rules []rbacv1.PolicyRule, asked authorizationv1.SubjectAccessReviewSpec) bool {
	return slices.ContainsFunc(rules, func(rule rbacv1.PolicyRule) bool { return allows(&rule, asked) })
}

// allows reports whether the rule allows the request.
func allows(rule *rbacv1.PolicyRule, asked authorizationv1.SubjectAccessReviewSpec) bool {
	if r := asked.ResourceAttributes; r != nil {
		return hasOrAll(rule.Verbs, r.Verb) && hasOrAll(rule.APIGroups, r.Group) && hasResource(rule.Resources, r.Resource, r.Subresource) &&
			(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, r.Name))
	}
	r := asked.NonResourceAttributes
	return r != nil && hasOrAll(rule.Verbs, r.Verb) && slices.ContainsFunc(rule.NonResourceURLs, func(url string) bool { return covers(url, r.Path) })
}

func hasOrAll(all []string, one string) bool {
	return slices.Contains(all, "*") || slices.Contains(all, one)
}

// hasResource looks for a resource, also as */SUBRESOURCE.
func hasResource(all []string, resource, subresource string) bool {
	if subresource == "" {
		return hasOrAll(all, resource)
	}
	return hasOrAll(all, resource+"/"+subresource) || slices.Contains(all, "*/"+subresource)
}

// covers reports whether a path matches a rule's path, which may end with a *.
func covers(url, path string) bool {
	return url == "*" || url == path || strings.HasSuffix(url, "*") && strings.HasPrefix(path, strings.TrimRight(url, "*"))
}
