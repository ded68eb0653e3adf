package kind

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

func init() {
	register(Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "RoleBinding",
		rules: roleBindingRules,
	})
}

var roleBindingRules = rulesOfRoles(
	func(b *rbacv1.RoleBinding) { fillBinding(&b.RoleRef, b.Subjects) },
	func(b *rbacv1.RoleBinding) field.ErrorList {
		return append(roleRef(b.RoleRef, "Role", "ClusterRole"), subjects(b.Subjects, true)...)
	})

func fillBinding(ref *rbacv1.RoleRef, subjects []rbacv1.Subject) {
	setEmpty(&ref.APIGroup, rbacv1.GroupName)
	for i := range subjects {
		if subjects[i].Kind == rbacv1.UserKind || subjects[i].Kind == rbacv1.GroupKind {
			setEmpty(&subjects[i].APIGroup, rbacv1.GroupName)
		}
	}
}

func roleRef(ref rbacv1.RoleRef, kinds ...string) field.ErrorList {
	at := field.NewPath("roleRef")
	errs := oneOf(at.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)
	errs = append(errs, oneOf(at.Child("kind"), ref.Kind, kinds...)...)
	if ref.Name == "" {
		return append(errs, field.Required(at.Child("name"), ""))
	}
	return append(errs, invalid(at.Child("name"), ref.Name, objectname.PathSegment(ref.Name, false))...)
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
