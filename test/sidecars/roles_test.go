package sidecars

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

// Each sidecar runs as the service account of its own project's manifests. A forgotten rule is
// reported, and the sidecar continues once the rule exists. One rule is missing in the manifests
// themselves: external-attacher v4.12.0 emits an event when it becomes the leader, and its
// manifests do not permit this.
func TestSidecarsHaveTheRightsThatTheirManifestsGive(t *testing.T) {
	c := up(t, strings.ReplaceAll(file, "%s", "mock: {controllerExpand: true, nodeExpand: true, snapshot: true}"), "--authorization", "rbac")
	c.grant("github.com/kubernetes-csi/external-attacher/v4", "deploy/kubernetes/rbac.yaml")
	c.grant("github.com/kubernetes-csi/external-resizer/v2", "deploy/kubernetes/rbac.yaml")
	c.grant("github.com/kubernetes-csi/external-snapshotter/v8", "deploy/kubernetes/csi-snapshotter/rbac-csi-snapshotter.yaml")
	c.grant("github.com/kubernetes-csi/external-snapshotter/v8", "deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml")
	forgotten := c.forget("external-attacher-runner", "volumeattachments/status")

	socket := "--csi-address=" + c.controllerSocket()
	c.runAs("default", "csi-attacher", "csi-attacher", socket)
	c.runAs("default", "csi-resizer", "csi-resizer", socket)
	c.runAs("default", "csi-snapshotter", "csi-snapshotter", socket)
	c.runAs("kube-system", "snapshot-controller", "snapshot-controller")

	c.claim("data", "32Mi", nil)
	c.pod("web", "data")
	const refusal = "forbidden: service account csi-attacher of namespace default cannot patch volumeattachments/status.storage.k8s.io\n"
	c.await("the refusal", func(context.Context) (bool, error) { return strings.Contains(c.output(), refusal), nil })
	_, err := c.RbacV1().ClusterRoles().Update(t.Context(), forgotten, metav1.UpdateOptions{})
	require.NoError(t, err)
	c.awaitRunning("web")
	c.deleteAll()

	c.lifeOfAVolume()
	assert.Contains(t, c.output(), "forbidden: service account csi-attacher of namespace default cannot create events in namespace default\n")
	assert.Equal(t, 2, strings.Count(c.output(), "forbidden:"), c.output())
}

// grant creates the objects of a file of a sidecar's module.
func (c *cluster) grant(module, file string) {
	c.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	require.NoError(c, err)
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), file))
	require.NoError(c, err)
	c.make(string(text))
}

// forget removes the rule for a resource from a role, and returns the unchanged role.
func (c *cluster) forget(name, resource string) *rbacv1.ClusterRole {
	role, err := c.RbacV1().ClusterRoles().Get(c.Context(), name, metav1.GetOptions{})
	require.NoError(c, err)
	without := role.DeepCopy()
	without.Rules = nil
	for _, rule := range role.Rules {
		if rule.Resources[0] != resource {
			without.Rules = append(without.Rules, rule)
		}
	}
	require.Len(c, without.Rules, len(role.Rules)-1)
	stored, err := c.RbacV1().ClusterRoles().Update(c.Context(), without, metav1.UpdateOptions{})
	require.NoError(c, err)
	stored.Rules = role.Rules
	return stored
}

// runAs runs a sidecar as a service account, with its lease in the account's namespace.
func (c *cluster) runAs(namespace, account, name string, args ...string) {
	c.Helper()
	token, err := c.CoreV1().ServiceAccounts(namespace).CreateToken(c.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(c, err)
	config, err := clientcmd.LoadFromFile(c.kubeconfig())
	require.NoError(c, err)
	for _, user := range config.AuthInfos {
		user.Token = token.Status.Token
	}
	file := filepath.Join(c.dir, account)
	require.NoError(c, clientcmd.WriteToFile(*config, file))
	c.run(name, append(args, "--kubeconfig="+file, "--leader-election", "--leader-election-namespace="+namespace)...)
}
