package store

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rulesOfRoles are common to roles and their bindings.
func rulesOfRoles[T Object](fill func(T), mistakes func(T) field.ErrorList) rules {
	return rules{
		name: pathName, createdByUpdate: true,
		fill:           func(obj Object) { fill(obj.(T)) },
		validate:       func(obj Object) field.ErrorList { return mistakes(obj.(T)) },
		validateUpdate: func(obj, _ Object) field.ErrorList { return mistakes(obj.(T)) },
	}
}

var (
	roleRules = rulesOfRoles(func(*rbacv1.Role) {}, func(r *rbacv1.Role) field.ErrorList {
		return policyRules(r.Rules, true)
	})
	clusterRoleRules = rulesOfRoles(func(*rbacv1.ClusterRole) {}, func(r *rbacv1.ClusterRole) field.ErrorList {
		errs := policyRules(r.Rules, false)
		if a := r.AggregationRule; a != nil && len(a.ClusterRoleSelectors) == 0 {
			errs = append(errs, field.Required(field.NewPath("aggregationRule", "clusterRoleSelectors"),
				"at least one clusterRoleSelector required if aggregationRule is non-nil"))
		}
		return errs
	})
	roleBindingRules = rulesOfRoles(
		func(b *rbacv1.RoleBinding) { fillBinding(&b.RoleRef, b.Subjects) },
		func(b *rbacv1.RoleBinding) field.ErrorList {
			return append(roleRef(b.RoleRef, "Role", "ClusterRole"), subjects(b.Subjects, true)...)
		})
	clusterRoleBindingRules = rulesOfRoles(
		func(b *rbacv1.ClusterRoleBinding) { fillBinding(&b.RoleRef, b.Subjects) },
		func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
			return append(roleRef(b.RoleRef, "ClusterRole"), subjects(b.Subjects, false)...)
		})
)

func fillBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	setEmpty(&ref.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			setEmpty(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

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

func roleRef(ref rbacv1.RoleRef, kinds ...string) field.ErrorList {
	at := field.NewPath("roleRef")
	errs := oneOf(at.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)
	errs = append(errs, oneOf(at.Child("kind"), ref.Kind, kinds...)...)
	if ref.Name == "" {
		return append(errs, field.Required(at.Child("name"), ""))
	}
	return append(errs, invalid(at.Child("name"), ref.Name, pathName(ref.Name, false))...)
}

func subjects(all []rbacv1.Subject, namespaced bool) field.ErrorList {
	var errs field.ErrorList
	for i, s := range all {
		at := field.NewPath("subjects").Index(i)
		if s.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		switch s.Kind {
		case rbacv1.ServiceAccountKind:
			if s.Name != "" {
				errs = append(errs, subdomain(at.Child("name"), s.Name)...)
			}
			errs = append(errs, oneOf(at.Child("apiGroup"), s.APIGroup, "")...)
			if !namespaced && s.Namespace == "" {
				errs = append(errs, field.Required(at.Child("namespace"), ""))
			}
		case rbacv1.UserKind, rbacv1.GroupKind:
			errs = append(errs, oneOf(at.Child("apiGroup"), s.APIGroup, rbacv1.GroupName)...)
		default:
			errs = append(errs, oneOf(at.Child("kind"), s.Kind, rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)...)
		}
	}
	return errs
}
