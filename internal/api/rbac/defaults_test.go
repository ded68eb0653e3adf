package rbac_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/rbac"
	"github.com/csisim/csisim/internal/world/store"
)

// A changed default role keeps added rules, and its removed rules are restored.
func TestDefaultRolesKeepAddedRules(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{}).Config())
	roles := client.RbacV1().ClusterRoles()
	added := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"nodes"}}
	_, err := roles.Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "system:public-info-viewer"}, Rules: []rbacv1.PolicyRule{added}}, metav1.CreateOptions{})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, rbac.Reconcile(client))
		role, err := roles.Get(t.Context(), "system:public-info-viewer", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, added, role.Rules[0])
		assert.Len(t, role.Rules, 6, "missing rules are added path by path")
	}
	all, err := roles.List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/bootstrapping=rbac-defaults"})
	require.NoError(t, err)
	assert.Greater(t, len(all.Items), 60)
}
