package clients

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/describe"
)

// kubectl describe is built from kubectl's code of the cluster's version. It describes kinds that
// older versions of kubectl cannot find.
func TestKubectlDescribesClassesOfAttributes(t *testing.T) {
	c := cluster(t)
	c.Apply("{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: gold}, driverName: " + driver + ", parameters: {iops: \"900\"}}")
	describer, ok := describe.DescriberFor(schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, c.RESTConfig())
	require.True(t, ok)
	got, err := describer.Describe("", "gold", describe.DescriberSettings{ShowEvents: true, ChunkSize: 500})
	require.NoError(t, err)
	assert.Equal(t, "Name:         gold\nAnnotations:  <none>\nDriverName:   "+driver+"\nParameters:   iops=900\nEvents:       <none>\n", got)
}

func TestKubectlDescribesQuotas(t *testing.T) {
	c := cluster(t)
	c.Apply(`
apiVersion: v1
kind: ResourceQuota
metadata: {name: storage, namespace: default}
spec: {hard: {persistentvolumeclaims: "5", requests.storage: 10Gi, standard.storageclass.storage.k8s.io/requests.storage: 5Gi}}`)
	c.Settle()
	c.Apply(`
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}, storageClassName: standard}`)
	describer, ok := describe.DescriberFor(schema.GroupKind{Kind: "ResourceQuota"}, c.RESTConfig())
	require.True(t, ok)
	got, err := describer.Describe("default", "storage", describe.DescriberSettings{})
	require.NoError(t, err)
	assert.Equal(t, "Name:                                                  storage\n"+
		"Namespace:                                             default\n"+
		"Resource                                               Used  Hard\n"+
		"--------                                               ----  ----\n"+
		"persistentvolumeclaims                                 1     5\n"+
		"requests.storage                                       3Gi   10Gi\n"+
		"standard.storageclass.storage.k8s.io/requests.storage  3Gi   5Gi\n", got)
}
