package rbac

import (
	"fmt"
	"iter"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// subject is the user of a request.
type subject struct {
	user   string
	groups []string
}

// is reports whether the subject of a binding, in the binding's namespace, is the user.
func (who subject) is(named rbacv1.Subject, namespace string) bool {
	switch named.Kind {
	case rbacv1.UserKind:
		return named.Name == who.user
	case rbacv1.GroupKind:
		return slices.Contains(who.groups, named.Name)
	case rbacv1.ServiceAccountKind:
		if named.Namespace != "" {
			namespace = named.Namespace
		}
		return namespace != "" && who.user == kind.AccountUser(namespace, named.Name)
	}
	return false
}

// source is the origin of a rule: a binding and its matching subject.
type source struct {
	kind, name string // of the binding, with its namespace, in the real server's notation
	role       rbacv1.RoleRef
	subject    rbacv1.Subject
	namespace  string
}

func (s source) String() string {
	whom := s.subject.Name
	if s.subject.Kind == rbacv1.ServiceAccountKind {
		namespace := s.subject.Namespace
		if namespace == "" {
			namespace = s.namespace
		}
		whom += "/" + namespace
	}
	return fmt.Sprintf("%s %q of %s %q to %s %q", s.kind, s.name, s.role.Kind, s.role.Name, s.subject.Kind, whom)
}

// visit calls use with each rule that applies to a user in a namespace (empty for the cluster),
// until use returns false. The error names missing roles.
func (a *Authorizer) visit(who subject, namespace string, use func(source, *rbacv1.PolicyRule) bool) error {
	var missing []error
	for from := range a.bindingsOf(who, namespace) {
		rules, err := a.rulesOf(from.role, from.namespace)
		if err != nil {
			missing = append(missing, err)
		}
		for i := range rules {
			if !use(from, &rules[i]) {
				return utilerrors.NewAggregate(missing)
			}
		}
	}
	return utilerrors.NewAggregate(missing)
}

// bindingsOf returns the bindings of the cluster, and then of a namespace, that name a user.
func (a *Authorizer) bindingsOf(who subject, namespace string) iter.Seq[source] {
	return func(yield func(source) bool) {
		for b := range store.List[*rbacv1.ClusterRoleBinding](a.store, "") {
			from := source{kind: "ClusterRoleBinding", name: b.Name, role: b.RoleRef}
			if from.names(who, b.Subjects) && !yield(from) {
				return
			}
		}
		if namespace == "" {
			return
		}
		for b := range store.List[*rbacv1.RoleBinding](a.store, namespace) {
			from := source{kind: "RoleBinding", name: b.Name + "/" + b.Namespace, role: b.RoleRef, namespace: b.Namespace}
			if from.names(who, b.Subjects) && !yield(from) {
				return
			}
		}
	}
}

// names finds the subject of a binding that matches the user.
func (s *source) names(who subject, subjects []rbacv1.Subject) bool {
	i := slices.IndexFunc(subjects, func(named rbacv1.Subject) bool { return who.is(named, s.namespace) })
	if i >= 0 {
		s.subject = subjects[i]
	}
	return i >= 0
}

// rulesOf returns the rules of a binding's role.
func (a *Authorizer) rulesOf(role rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	if role.Kind == "Role" {
		r, ok := store.Get[*rbacv1.Role](a.store, store.Key{Namespace: namespace, Name: role.Name})
		if !ok {
			return nil, apierrors.NewNotFound(rbacv1.Resource("role"), role.Name)
		}
		return r.Rules, nil
	}
	r, ok := store.Get[*rbacv1.ClusterRole](a.store, store.Key{Name: role.Name})
	if !ok {
		return nil, apierrors.NewNotFound(rbacv1.Resource("clusterrole"), role.Name)
	}
	return r.Rules, nil
}
