package scenario

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given addresses in all places of a scenario, then those on loopback with a port are found.
func TestAScenarioNamesAddressesOnLoopback(t *testing.T) {
	s, err := Parse("s.yaml", []byte(`
apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers:
- name: a.example.com
  program:
    command: [a, "--endpoint={{.Endpoint}}", "--server=http://127.0.0.1:9000/path", "--version=1.127.0.0.1"]
    env: {BACKEND: "localhost:9001", OTHER: "192.0.2.1:80", NAME: notlocalhost}
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: c}, provisioner: a.example.com, parameters: {portal: "[::1]:3260"}}
- {apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {url: "https://127.0.0.2:443"}}
`))
	require.NoError(t, err)
	assert.Equal(t, []string{"127.0.0.1:9000", "127.0.0.2:443", "[::1]:3260", "localhost:9001"}, s.Loopback())
}
