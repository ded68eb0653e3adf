package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

func TestInvalidTokenRequestsAreRejected(t *testing.T) {
	s := kind.NewStore(store.Options{})
	pod, err := store.Create(s, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	})
	require.NoError(t, err)
	_, err = store.Create(s, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot", Namespace: "default"}})
	require.NoError(t, err)
	bound := func(name string, uid types.UID) *authenticationv1.BoundObjectReference {
		return &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: name, UID: uid}
	}
	for _, c := range []struct {
		name, account string
		life          *int64
		pod           *authenticationv1.BoundObjectReference
		want          string
	}{
		{"an account that is not there", "missing", nil, nil, `serviceaccounts "missing" not found`},
		{"too short a life", "default", new(int64(599)), nil, "may not specify a duration less than 10 minutes"},
		{"too long a life", "default", new(int64(1<<32 + 1)), nil, "may not specify a duration larger than 2^32 seconds"},
		{"a pod that is not there", "default", nil, bound("gone", pod.UID), `pods "gone" not found`},
		{"another pod of that name", "default", nil, bound("web", "x"), "does not match the UID in record"},
		{"a pod of another account", "robot", nil, bound("web", pod.UID), "running with different serviceaccount"},
		{"nothing is wrong", "default", nil, bound("web", pod.UID), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			issued, err := kind.IssueToken(s, store.Key{Namespace: "default", Name: c.account}, &authenticationv1.TokenRequest{
				Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: c.life, BoundObjectRef: c.pod},
			})
			if c.want != "" {
				assert.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			assert.NotEmpty(t, issued.Status.Token)
		})
	}
}
