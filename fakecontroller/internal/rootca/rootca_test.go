package rootca

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

func TestEveryNamespaceHasTheCertificate(t *testing.T) {
	c := testcluster.New(t, nil, mock.Options{})
	Start(c.World, []byte("PEM"))
	testcluster.Create(c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}})
	c.Run(time.Second)
	for _, namespace := range []string{"default", "kube-system", "new"} {
		published := testcluster.Get[*corev1.ConfigMap](c, namespace, Name)
		assert.Equal(t, map[string]string{"ca.crt": "PEM"}, published.Data)
		assert.Contains(t, published.Annotations[descriptionAnnotation], "verify the kube-apiserver")
	}

	testcluster.Change(c, testcluster.Get[*corev1.ConfigMap](c, "new", Name), func(m *corev1.ConfigMap) { m.Data = nil })
	_, err := store.Delete[*corev1.ConfigMap](c.Store, store.Key{Namespace: "default", Name: Name})
	require.NoError(t, err)
	c.Run(time.Second)
	assert.Equal(t, "PEM", testcluster.Get[*corev1.ConfigMap](c, "new", Name).Data["ca.crt"], "it is mended")
	assert.True(t, testcluster.Exists[*corev1.ConfigMap](c, "default", Name), "it is made again")
}
