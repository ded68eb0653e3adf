package rbac

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
	"sigs.k8s.io/yaml"
)

// Defaults are the initial roles and bindings of a cluster of the newest version.
type Defaults struct {
	ClusterRoles        []rbacv1.ClusterRole        `json:"clusterRoles"`
	ClusterRoleBindings []rbacv1.ClusterRoleBinding `json:"clusterRoleBindings"`
	Roles               []rbacv1.Role               `json:"roles"`
	RoleBindings        []rbacv1.RoleBinding        `json:"roleBindings"`
}

// The file is written by `make default-roles` from Kubernetes' own lists.
//
//go:embed defaults.yaml
var defaults []byte

func readDefaults() (all Defaults, err error) {
	if err := yaml.UnmarshalStrict(defaults, &all); err != nil {
		return all, fmt.Errorf("reading the default roles: %w", err)
	}
	return all, nil
}

// DefaultRules returns the initial rules of a default ClusterRole.
func DefaultRules(role string) ([]rbacv1.PolicyRule, error) {
	all, err := readDefaults()
	i := slices.IndexFunc(all.ClusterRoles, func(r rbacv1.ClusterRole) bool { return r.Name == role })
	if err != nil || i < 0 {
		return nil, errors.Join(err, fmt.Errorf("there is no default ClusterRole %s", role))
	}
	return all.ClusterRoles[i].Rules, nil
}

// Reconcile creates the default roles and bindings. It adds missing rules and subjects to existing
// roles and bindings, and keeps additional rules and subjects.
func Reconcile(client kubernetes.Interface) error {
	all, err := readDefaults()
	if err != nil {
		return err
	}
	return all.reconcile(client)
}

func (d Defaults) reconcile(client kubernetes.Interface) error {
	rbac := client.RbacV1()
	for i := range d.ClusterRoles {
		role := reconciliation.ClusterRoleRuleOwner{ClusterRole: &d.ClusterRoles[i]}
		o := reconciliation.ReconcileRoleOptions{Role: role, Client: reconciliation.ClusterRoleModifier{Client: rbac.ClusterRoles()}, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconciling ClusterRole %s: %w", role.GetName(), err)
		}
	}
	for i := range d.Roles {
		role := reconciliation.RoleRuleOwner{Role: &d.Roles[i]}
		o := reconciliation.ReconcileRoleOptions{Role: role, Client: reconciliation.RoleModifier{Client: rbac, NamespaceClient: client.CoreV1().Namespaces()}, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconciling Role %s of namespace %s: %w", role.GetName(), role.GetNamespace(), err)
		}
	}
	return d.reconcileBindings(client)
}

func (d Defaults) reconcileBindings(client kubernetes.Interface) error {
	rbac := client.RbacV1()
	for i := range d.ClusterRoleBindings {
		binding := reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: &d.ClusterRoleBindings[i]}
		o := reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: reconciliation.ClusterRoleBindingClientAdapter{Client: rbac.ClusterRoleBindings()}, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconciling ClusterRoleBinding %s: %w", binding.GetName(), err)
		}
	}
	for i := range d.RoleBindings {
		binding := reconciliation.RoleBindingAdapter{RoleBinding: &d.RoleBindings[i]}
		o := reconciliation.ReconcileRoleBindingOptions{RoleBinding: binding, Client: reconciliation.RoleBindingClientAdapter{Client: rbac, NamespaceClient: client.CoreV1().Namespaces()}, Confirm: true}
		if _, err := o.Run(); err != nil {
			return fmt.Errorf("reconciling RoleBinding %s of namespace %s: %w", binding.GetName(), binding.GetNamespace(), err)
		}
	}
	return nil
}
