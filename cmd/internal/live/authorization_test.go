package live

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A service account without roles gets the real refusal, and csisim prints the missing rules when
// the cluster is stopped.
func TestUpRefusesRequestsThatNoRoleAllows(t *testing.T) {
	l := startUp(t, "--authorization", "rbac")
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	admin := kubernetes.NewForConfigOrDie(config)
	_, err = admin.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := admin.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)

	config.BearerToken = token.Status.Token
	robot := kubernetes.NewForConfigOrDie(config)
	_, err = robot.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), err)
	assert.EqualError(t, err, `nodes is forbidden: User "system:serviceaccount:default:robot" cannot list resource "nodes" in API group "" at the cluster scope`)
	_, err = robot.Discovery().ServerVersion()
	require.NoError(t, err, "the default roles allow all users to read the version")

	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
	assert.Contains(t, l.output.String(), "forbidden: service account robot of namespace default cannot list nodes\n")
	assert.Contains(t, l.output.String(), `Requests were forbidden. The rules that would allow them:
# no ClusterRoleBinding names service account robot of namespace default, which needs a role with these rules:
- apiGroups: [""]
  resources: [nodes]
  verbs: [list]
`)
}

func TestAnUnknownModeOfAuthorizationIsRefused(t *testing.T) {
	refused := clitest.Run(t, "up", "--authorization", "rback")
	assert.Equal(t, clitest.ExitInput, refused.Code)
	assert.Contains(t, refused.Stderr, `unknown mode of --authorization "rback"`)
	assert.Contains(t, refused.Stderr, `did you mean "rbac"?`)
}
