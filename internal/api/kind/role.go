package kind

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "Role",
		rules: roleRules, Columns: plainColumns,
	})
}

// rulesOfRoles are common to roles and their bindings.
func rulesOfRoles[T store.Object](fill func(T), validate func(T) field.ErrorList) rules[T] {
	return rules[T]{
		name: objectname.PathSegment, createdByUpdate: true,
		fill: fill, validate: validate,
		passes: []store.Pass{store.PassObject, store.PassMetadata, store.PassChange},
	}
}

var roleRules = rulesOfRoles(func(*rbacv1.Role) {}, func(r *rbacv1.Role) field.ErrorList {
	return policyRules(r.Rules, true)
})

func policyRules(all []rbacv1.PolicyRule, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	for i := range all {
		rule, at := &all[i], field.NewPath("rules").Index(i)
		if len(rule.Verbs) == 0 {
			errs = append(errs, field.Required(at.Child("verbs"), "verbs must contain at least one value"))
		}
		if urls := rule.NonResourceURLs; len(urls) > 0 {
			if namespaced {
				errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), urls, "namespaced rules cannot apply to non-resource URLs"))
			}
			if len(rule.APIGroups)+len(rule.Resources)+len(rule.ResourceNames) > 0 {
				errs = append(errs, field.Invalid(at.Child("nonResourceURLs"), urls, "rules cannot apply to both regular resources and non-resource URLs"))
			}
			continue
		}
		if len(rule.APIGroups) == 0 {
			errs = append(errs, field.Required(at.Child("apiGroups"), "resource rules must supply at least one api group"))
		}
		if len(rule.Resources) == 0 {
			errs = append(errs, field.Required(at.Child("resources"), "resource rules must supply at least one resource"))
		}
	}
	return errs
}
