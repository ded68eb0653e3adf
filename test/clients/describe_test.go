package clients

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubectl/pkg/describe"
)

// What kubectl describe says, with the code of kubectl of the cluster's version: kinds
// that those of older versions ask for in vain.
func TestKubectlDescribesClassesOfAttributes(t *testing.T) {
	c := cluster(t)
	c.Apply("{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: gold}, driverName: " + driver + ", parameters: {iops: \"900\"}}")
	describer, ok := describe.DescriberFor(schema.GroupKind{Group: "storage.k8s.io", Kind: "VolumeAttributesClass"}, c.RESTConfig())
	require.True(t, ok)
	told, err := describer.Describe("", "gold", describe.DescriberSettings{ShowEvents: true, ChunkSize: 500})
	require.NoError(t, err)
	assert.Equal(t, "Name:         gold\nAnnotations:  <none>\nDriverName:   "+driver+"\nParameters:   iops=900\nEvents:       <none>\n", told)
}
