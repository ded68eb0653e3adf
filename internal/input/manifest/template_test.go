package manifest_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
)

func TestCopiesEqualTextsReadWithTheirNumbers(t *testing.T) {
	for name, text := range map[string]string{
		"texts": `{apiVersion: v1, kind: Pod, metadata: {name: "web-{{i}}", annotations: {a: b}}, spec: {containers: [{name: c, image: x, command: [sh, "{{i}} of {{i}}"]}],
 volumes: [{name: data, persistentVolumeClaim: {claimName: "data-{{i}}"}}]}}`,
		"a pointer":       `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "c-{{i}}"}, spec: {storageClassName: "fast-{{i}}"}}`,
		"a label":         `{apiVersion: v1, kind: Pod, metadata: {name: "web-{{i}}", labels: {number: "{{i}}"}}}`,
		"a key":           `{apiVersion: v1, kind: Pod, metadata: {name: "web-{{i}}", labels: {"number-{{i}}": a}}}`,
		"a number":        `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: "web-{{i}}"}, spec: {replicas: {{i}}}}`,
		"a number or not": `{apiVersion: v1, kind: Pod, metadata: {name: "web-{{i}}"}, spec: {containers: [{name: c, image: x, readinessProbe: {httpGet: {port: {{i}}}}}]}}`,
		"a size":          `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: "c-{{i}}"}, spec: {resources: {requests: {storage: 1{{i}}Gi}}}}`,
		"several":         "{apiVersion: v1, kind: Namespace, metadata: {name: \"n-{{i}}\"}}\n---\n{apiVersion: v1, kind: Node, metadata: {name: \"m-{{i}}\"}}\n",
		"a custom object": `{apiVersion: example.com/v1, kind: Thing, metadata: {name: "t-{{i}}"}}`,
		"the usual mark":  `{apiVersion: v1, kind: Pod, metadata: {name: "web-{{i}}-1000000007"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			const n = 12
			copies, problems := manifest.Copies(strict.Source{File: "x.yaml", Text: []byte(text)}, "{{i}}", n)
			require.NoError(t, problems.Err())
			for i := range n {
				read, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: []byte(strings.ReplaceAll(text, "{{i}}", strconv.Itoa(i)))})
				require.NoError(t, problems.Err())
				for j := range read {
					made := copies[i*len(read)+j]
					assert.Empty(t, cmp.Diff(read[j].Object, made.Object))
					assert.Equal(t, "x.yaml", made.File)
					assert.Equal(t, copies[j].At, made.At)
				}
				assert.Len(t, copies, n*len(read))
			}
		})
	}
}

func TestAMistakeOfALaterCopyIsReported(t *testing.T) {
	text := `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: "web-{{i}}"}, spec: {replicas: 0x{{i}}{{i}}{{i}}{{i}}{{i}}{{i}}{{i}}{{i}}}}`
	_, problems := manifest.Copies(strict.Source{File: "x.yaml", Text: []byte(text)}, "{{i}}", 12)
	assert.ErrorContains(t, problems.Err(), "spec.replicas")
}
