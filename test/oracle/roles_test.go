package oracle

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/registry/rbac/validation"
	real "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/rbac"
	"github.com/csisim/csisim/internal/world/store"
)

var updateRoles = flag.Bool("update-roles", false, "rewrite the default roles")

const defaultRolesFile = "../../internal/api/rbac/defaults.yaml"

func TestTheDefaultRolesAreThoseOfKubernetes(t *testing.T) {
	if *updateRoles {
		require.NoError(t, os.WriteFile(defaultRolesFile, []byte(written(realDefaults())), 0o644))
	}
	ours, err := os.ReadFile(defaultRolesFile)
	require.NoError(t, err)
	assert.Equal(t, written(realDefaults()), string(ours), "make default-roles")
}

func realDefaults() (all rbac.Defaults) {
	all.ClusterRoles = append(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles()...)
	all.ClusterRoleBindings = append(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings()...)
	for _, namespace := range []string{metav1.NamespaceSystem, metav1.NamespacePublic} {
		all.Roles = append(all.Roles, bootstrappolicy.NamespaceRoles()[namespace]...)
		all.RoleBindings = append(all.RoleBindings, bootstrappolicy.NamespaceRoleBindings()[namespace]...)
	}
	return all
}

// written renders one rule per line.
func written(all rbac.Defaults) string {
	text := &strings.Builder{}
	fmt.Fprintln(text, "# The roles and bindings with which a cluster of Kubernetes v1.36.3 begins: make default-roles\nclusterRoles:")
	for _, r := range all.ClusterRoles {
		fmt.Fprintf(text, "- metadata: %s\n", flow(r.ObjectMeta))
		if r.AggregationRule != nil {
			fmt.Fprintf(text, "  aggregationRule: %s\n", flow(r.AggregationRule))
		}
		writeRules(text, r.Rules)
	}
	fmt.Fprintln(text, "clusterRoleBindings:")
	for _, b := range all.ClusterRoleBindings {
		fmt.Fprintf(text, "- {metadata: %s, roleRef: %s, subjects: %s}\n", flow(b.ObjectMeta), flow(b.RoleRef), flow(b.Subjects))
	}
	fmt.Fprintln(text, "roles:")
	for _, r := range all.Roles {
		fmt.Fprintf(text, "- metadata: %s\n", flow(r.ObjectMeta))
		writeRules(text, r.Rules)
	}
	fmt.Fprintln(text, "roleBindings:")
	for _, b := range all.RoleBindings {
		fmt.Fprintf(text, "- {metadata: %s, roleRef: %s, subjects: %s}\n", flow(b.ObjectMeta), flow(b.RoleRef), flow(b.Subjects))
	}
	return text.String()
}

func writeRules(text *strings.Builder, rules []rbacv1.PolicyRule) {
	if len(rules) == 0 {
		return
	}
	fmt.Fprintln(text, "  rules:")
	for _, rule := range rules {
		fmt.Fprintf(text, "  - %s\n", flow(rule))
	}
}

// flow renders a value as YAML in one line.
func flow(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		panic(err)
	}
	inOneLine, err := yaml.YAMLToJSON(text)
	if err != nil {
		panic(err)
	}
	return strings.Replace(string(inOneLine), `"creationTimestamp":null,`, "", 1)
}

// TestRequestsAreAllowedAsByKubernetes queries both authorizers about the default roles and about
// random ones.
func TestRequestsAreAllowedAsByKubernetes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	s := kind.NewStore(store.Options{})
	server := apiserver.New(s, apiserver.Options{})
	client := kubernetes.NewForConfigOrDie(server.Config())
	require.NoError(t, rbac.Reconcile(client))
	for i := range 200 {
		makeRole(t, client, random, i)
	}
	ours := rbac.New(s, func(rbac.Lack) {})
	roles := inStore{s}
	theirs := real.New(roles, roles, roles, roles)
	allowed := 0
	for range 20_000 {
		asked := question(random)
		answer := ours.Authorize(asked)
		decision, reason, err := theirs.Authorize(context.Background(), attributesOf(asked))
		require.NoError(t, err)
		require.Equal(t, decision == authorizer.DecisionAllow, answer.Allowed, "%+v\n%+v", asked, reason)
		require.Equal(t, reason, answer.Reason, "%+v", asked)
		if answer.Allowed {
			allowed++
		}
	}
	assert.Greater(t, allowed, 1000)
	assert.Less(t, allowed, 19_000)
}

func one(random *rand.Rand, values ...string) string { return values[random.IntN(len(values))] }

func some(random *rand.Rand, values ...string) (chosen []string) {
	for chosen == nil {
		for _, value := range values {
			if random.IntN(len(values)) == 0 {
				chosen = append(chosen, value)
			}
		}
	}
	return chosen
}

var (
	verbs      = []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	groups     = []string{"", "apps", "storage.k8s.io", "rbac.authorization.k8s.io"}
	resources  = []string{"pods", "nodes", "volumeattachments", "deployments", "secrets", "pods/exec", "volumeattachments/status", "deployments/scale"}
	names      = []string{"", "one", "two"}
	namespaces = []string{"", "default", "kube-system"}
	paths      = []string{"/healthz", "/version", "/metrics", "/logs/one", "/api"}
	users      = []string{"system:serviceaccount:default:one", "system:serviceaccount:kube-system:two", "ann", "system:anonymous"}
	userGroups = []string{"system:authenticated", "system:unauthenticated", "system:serviceaccounts", "developers"}
)

func makeRole(t *testing.T, client kubernetes.Interface, random *rand.Rand, n int) {
	rule := rbacv1.PolicyRule{Verbs: some(random, append(verbs, "*")...), APIGroups: some(random, append(groups, "*")...), Resources: some(random, append(resources, "*", "*/status")...)}
	if random.IntN(3) == 0 {
		rule.ResourceNames = some(random, "one", "two")
	}
	rules := []rbacv1.PolicyRule{rule}
	meta := metav1.ObjectMeta{Name: fmt.Sprint("made-", n), Namespace: one(random, namespaces[1:]...)}
	subjects := []rbacv1.Subject{{Kind: "User", Name: one(random, users...), APIGroup: rbacv1.GroupName}}
	switch random.IntN(3) {
	case 0:
		subjects = []rbacv1.Subject{{Kind: "Group", Name: one(random, userGroups...), APIGroup: rbacv1.GroupName}}
	case 1:
		subjects = []rbacv1.Subject{{Kind: "ServiceAccount", Name: one(random, "one", "two"), Namespace: one(random, namespaces[1:]...)}}
	}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: one(random, "Role", "ClusterRole"), Name: meta.Name}
	ctx, api := context.Background(), client.RbacV1()
	if random.IntN(10) == 0 {
		role.Name = "missing"
	}
	if random.IntN(8) == 0 {
		_, err := api.ClusterRoles().Create(ctx, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: meta.Name}, Rules: append(rules,
			rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: some(random, "/healthz", "/logs/*", "/metrics", "*")})}, metav1.CreateOptions{})
		require.NoError(t, err)
		role.Kind = "ClusterRole"
		_, err = api.ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: meta.Name}, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
		require.NoError(t, err)
		return
	}
	_, err := api.Roles(meta.Namespace).Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = api.RoleBindings(meta.Namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: role, Subjects: subjects}, metav1.CreateOptions{})
	require.NoError(t, err)
}

func question(random *rand.Rand) authorizationv1.SubjectAccessReviewSpec {
	asked := authorizationv1.SubjectAccessReviewSpec{User: one(random, users...), Groups: some(random, userGroups...)}
	if random.IntN(10) == 0 {
		asked.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: one(random, "get", "post"), Path: one(random, paths...)}
		return asked
	}
	resource, sub, _ := strings.Cut(one(random, resources...), "/")
	asked.ResourceAttributes = &authorizationv1.ResourceAttributes{
		Verb: one(random, verbs...), Group: one(random, groups...), Resource: resource, Subresource: sub, Name: one(random, names...), Namespace: one(random, namespaces...),
	}
	return asked
}

func attributesOf(asked authorizationv1.SubjectAccessReviewSpec) authorizer.Attributes {
	who := &user.DefaultInfo{Name: asked.User, Groups: asked.Groups}
	if n := asked.NonResourceAttributes; n != nil {
		return authorizer.AttributesRecord{User: who, Verb: n.Verb, Path: n.Path}
	}
	r := asked.ResourceAttributes
	return authorizer.AttributesRecord{
		User: who, Verb: r.Verb, APIGroup: r.Group, Resource: r.Resource, Subresource: r.Subresource, Name: r.Name, Namespace: r.Namespace, ResourceRequest: true,
	}
}

// inStore provides the roles of a store to Kubernetes' own code.
type inStore struct{ *store.Store }

var _ validation.RoleGetter = inStore{}

func (s inStore) GetRole(ctx context.Context, namespace, name string) (*rbacv1.Role, error) {
	return found[*rbacv1.Role](s, "role", namespace, name)
}

func (s inStore) GetClusterRole(ctx context.Context, name string) (*rbacv1.ClusterRole, error) {
	return found[*rbacv1.ClusterRole](s, "clusterrole", "", name)
}

func found[T store.Object](s inStore, kind, namespace, name string) (T, error) {
	obj, ok := store.Get[T](s.Store, store.Key{Namespace: namespace, Name: name})
	if !ok {
		return obj, apierrors.NewNotFound(rbacv1.Resource(kind), name)
	}
	return obj, nil
}

func (s inStore) ListRoleBindings(_ context.Context, namespace string) ([]*rbacv1.RoleBinding, error) {
	return slices.Collect(store.List[*rbacv1.RoleBinding](s.Store, namespace)), nil
}

func (s inStore) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return slices.Collect(store.List[*rbacv1.ClusterRoleBinding](s.Store, "")), nil
}
