package kind

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "ClusterRoleBinding",
		traits: clusterScoped, rules: clusterRoleBindingRules,
		Columns: bindingColumns(func(b *rbacv1.ClusterRoleBinding) (rbacv1.RoleRef, []rbacv1.Subject) { return b.RoleRef, b.Subjects }),
	})
}

var clusterRoleBindingRules = rulesOfBindings(
	func(b *rbacv1.ClusterRoleBinding) { fillBinding(&b.RoleRef, b.Subjects) },
	func(b *rbacv1.ClusterRoleBinding) field.ErrorList {
		return append(roleRef(b.RoleRef, "ClusterRole"), subjects(b.Subjects, false)...)
	},
	func(b *rbacv1.ClusterRoleBinding) rbacv1.RoleRef { return b.RoleRef })
