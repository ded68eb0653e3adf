package apiserver

import (
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// reviewAccess reports whether a user has a permission.
func (q *request) reviewAccess(asked authorizationv1.SubjectAccessReviewSpec) (answer authorizationv1.SubjectAccessReviewStatus) {
	if q.server.authorizer == nil {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: true}
	}
	if r := asked.ResourceAttributes; r != nil && r.FieldSelector != nil && r.FieldSelector.RawSelector != "" {
		parsed := *r
		parsed.FieldSelector = &authorizationv1.FieldSelectorAttributes{Requirements: requirementsOf(r.FieldSelector.RawSelector)}
		asked.ResourceAttributes = &parsed
	}
	q.server.options.Exclusive(func() { answer = q.server.authorizer.Authorize(asked) })
	return answer
}

// reviewRules lists the user's permissions in a namespace.
func (q *request) reviewRules(namespace string) (answer authorizationv1.SubjectRulesReviewStatus) {
	every := []string{"*"}
	rules := []rbacv1.PolicyRule{{Verbs: every, APIGroups: every, Resources: every}, {Verbs: every, NonResourceURLs: every}}
	if q.server.authorizer != nil {
		q.server.options.Exclusive(func() {
			var complete bool
			var err error
			if rules, complete, err = q.server.authorizer.Rules(q.user, namespace); err != nil {
				answer.EvaluationError = err.Error()
			}
			answer.Incomplete = !complete
		})
	}
	answer.ResourceRules, answer.NonResourceRules = []authorizationv1.ResourceRule{}, []authorizationv1.NonResourceRule{}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			answer.ResourceRules = append(answer.ResourceRules, authorizationv1.ResourceRule{Verbs: r.Verbs, APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames})
		}
		if len(r.NonResourceURLs) > 0 {
			answer.NonResourceRules = append(answer.NonResourceRules, authorizationv1.NonResourceRule{Verbs: r.Verbs, NonResourceURLs: r.NonResourceURLs})
		}
	}
	return answer
}
