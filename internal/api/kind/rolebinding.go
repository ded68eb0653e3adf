package kind

import (
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "RoleBinding",
		rules:   roleBindingRules,
		Columns: bindingColumns(func(b *rbacv1.RoleBinding) (rbacv1.RoleRef, []rbacv1.Subject) { return b.RoleRef, b.Subjects }),
	})
}

// rulesOfBindings are common to bindings, which cannot change their role.
func rulesOfBindings[T store.Object](fill func(T), validate func(T) field.ErrorList, role func(T) rbacv1.RoleRef) rules[T] {
	r := rulesOfRoles(fill, validate)
	r.validateUpdate = func(obj, old T) field.ErrorList {
		if ref := role(obj); ref != role(old) {
			return field.ErrorList{field.Invalid(field.NewPath("roleRef"), goNames{ref}, "cannot change roleRef")}
		}
		return nil
	}
	return r
}

// bindingColumns show the role of a binding and its subjects.
func bindingColumns[T store.Object](of func(T) (rbacv1.RoleRef, []rbacv1.Subject)) []Column {
	subjects := func(kind string, name func(rbacv1.Subject) string) func(T) string {
		return func(b T) string {
			_, all := of(b)
			var names []string
			for _, s := range all {
				if s.Kind == kind {
					names = append(names, name(s))
				}
			}
			return strings.Join(names, ", ")
		}
	}
	plain := func(s rbacv1.Subject) string { return s.Name }
	return []Column{
		nameColumn,
		text("Role", func(b T) string { ref, _ := of(b); return ref.Kind + "/" + ref.Name }),
		ageColumn,
		wide(text("Users", subjects(rbacv1.UserKind, plain))),
		wide(text("Groups", subjects(rbacv1.GroupKind, plain))),
		wide(text("ServiceAccounts", subjects(rbacv1.ServiceAccountKind, func(s rbacv1.Subject) string { return s.Namespace + "/" + s.Name }))),
	}
}

var roleBindingRules = rulesOfBindings(
	func(b *rbacv1.RoleBinding) { fillBinding(&b.RoleRef, b.Subjects) },
	func(b *rbacv1.RoleBinding) field.ErrorList {
		return append(roleRef(b.RoleRef, "Role", "ClusterRole"), subjects(b.Subjects, true)...)
	},
	func(b *rbacv1.RoleBinding) rbacv1.RoleRef { return b.RoleRef })

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
