package kind

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "rbac.authorization.k8s.io", Version: "v1", Name: "ClusterRole",
		traits: clusterScoped, rules: clusterRoleRules,
	})
}

var clusterRoleRules = rulesOfRoles(func(*rbacv1.ClusterRole) {}, func(r *rbacv1.ClusterRole) field.ErrorList {
	errs := policyRules(r.Rules, false)
	if a := r.AggregationRule; a != nil && len(a.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(field.NewPath("aggregationRule", "clusterRoleSelectors"),
			"at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	return errs
})
