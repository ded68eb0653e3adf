package manifest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/input/strict/stricttest"
)

func TestEveryMistakeIsReportedWithItsPlace(t *testing.T) {
	stricttest.Golden(t, "testdata/mistakes.txt", func(input string) string {
		objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: []byte(input)})
		for _, o := range objects {
			if o.IsCustom() {
				problems = append(problems, o.NoKind())
			}
		}
		return problems.Error()
	})
}

// TestObjectsAreReadLikeClientGo compares with the decoder of client-go.
func TestObjectsAreReadLikeClientGo(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			want, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
			require.NoError(t, err)

			objects, problems := manifest.DecodeText(strict.Source{File: file, Text: data})
			require.NoError(t, problems.Err())
			require.Len(t, objects, 1)
			assert.Empty(t, cmp.Diff(want, objects[0].Object))
		})
	}
}

func TestObjectsOfDocumentsAndListsAreReadInOrder(t *testing.T) {
	objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: []byte(`# first
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {generateName: web-, namespace: shop}
- {apiVersion: v1, kind: Node, metadata: {name: worker-1}}
---
`)})
	require.NoError(t, problems.Err())
	assert.Equal(t, []string{
		"Namespace shop (x.yaml:3)",
		"Pod shop/web-* (x.yaml:10)",
		"Node worker-1 (x.yaml:13)",
	}, describe(objects))
}

func TestAScenarioHoldsManifestsInEveryForm(t *testing.T) {
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: web-0}}"
	for form, c := range map[string]struct {
		text string
		want []string
	}{
		"a map":          {"objects: " + pod, []string{"Pod web-0 (x.yaml:1)"}},
		"a list of maps": {"objects:\n- " + pod + "\n- " + pod, []string{"Pod web-0 (x.yaml:2)", "Pod web-0 (x.yaml:3)"}},
		"a block":        {"objects: |\n  " + pod + "\n  ---\n  " + pod, []string{"Pod web-0 (x.yaml:2)", "Pod web-0 (x.yaml:4)"}},
		"a list of both": {"objects:\n- |\n  " + pod + "\n- " + pod, []string{"Pod web-0 (x.yaml:3)", "Pod web-0 (x.yaml:4)"}},
		"nothing":        {"{}", nil},
	} {
		t.Run(form, func(t *testing.T) {
			objects, problems := manifest.Decode(inline(t, c.text))
			require.NoError(t, problems.Err())
			assert.Equal(t, c.want, describe(objects))
		})
	}
}

func TestAMistakeInAnInlineManifestIsAtItsPlaceInTheScenario(t *testing.T) {
	for form, c := range map[string]struct{ text, want string }{
		"a map": {"objects:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {nodename: n}\n",
			`x.yaml:5:10: objects[0].spec.nodename: found unknown field "nodename", want one of the 42 fields of PodSpec; did you mean "nodeName"?`},
		"a block": {"objects: |\n  apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n  spec: {nodename: n}\n",
			`x.yaml:5:10: spec.nodename: found unknown field "nodename", want one of the 42 fields of PodSpec; did you mean "nodeName"?`},
		"a list in a list": {"objects: [[]]\n",
			`x.yaml:1:11: objects[0]: found a list, want a Kubernetes object, a map with apiVersion, kind and metadata`},
		"malformed inside of a block": {"objects: |\n  apiVersion: v1\n  kind Pod\n",
			`x.yaml:3:3: found malformed YAML: a line that is no key with a value, want key: value`},
	} {
		t.Run(form, func(t *testing.T) {
			_, problems := manifest.Decode(inline(t, c.text))
			assert.Equal(t, c.want, problems.Error())
		})
	}
}

// kubectl reads a bare yes as true and ignores a key without a value.
func TestPlainWordsAreReadLikeKubectl(t *testing.T) {
	objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: []byte(`
apiVersion: v1
kind: Pod
metadata:
  name: web-0
  creationTimestamp: null
  labels: {started: 2024-05-01}
spec:
  hostNetwork: yes
  volumes:
  - name: config
    configMap: {defaultMode: 0644}
status: {}
`)})
	require.NoError(t, problems.Err())
	pod := objects[0].Object.(*corev1.Pod)
	assert.True(t, pod.Spec.HostNetwork)
	assert.Equal(t, int32(0o644), *pod.Spec.Volumes[0].ConfigMap.DefaultMode)
	assert.Equal(t, "2024-05-01", pod.Labels["started"])
}

// C-GSNAP-1
func TestGroupSnapshotsAreReadInAllTheirVersions(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1", "v1beta2"} {
		objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: []byte("apiVersion: groupsnapshot.storage.k8s.io/" + version + `
kind: VolumeGroupSnapshot
metadata: {name: g}
spec: {source: {selector: {matchLabels: {app: db}}}, volumeGroupSnapshotClassName: fast}
`)})
		require.NoError(t, problems.Err())
		g := objects[0].Object.(*groupv1.VolumeGroupSnapshot)
		assert.Equal(t, "groupsnapshot.storage.k8s.io/v1", g.APIVersion)
		assert.Equal(t, "fast", *g.Spec.VolumeGroupSnapshotClassName)
	}
}

// Every stored kind can be read from the output of client-go's own encoder.
func TestEveryBuiltInKindCanBeRead(t *testing.T) {
	encoder := scheme.Codecs.LegacyCodec(scheme.Scheme.PrioritizedVersionsAllGroups()...)
	for kind := range scheme.Scheme.AllKnownTypes() {
		empty, err := scheme.Scheme.New(kind)
		require.NoError(t, err)
		named, ok := empty.(interface {
			runtime.Object
			SetName(string)
		})
		if !ok || kind.Version == runtime.APIVersionInternal {
			continue
		}
		named.SetName("a")
		named.GetObjectKind().SetGroupVersionKind(kind)
		data, err := runtime.Encode(encoder, named)
		require.NoError(t, err, kind)
		objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: data})
		if assert.NoError(t, problems.Err(), kind) {
			assert.Empty(t, cmp.Diff(named, objects[0].Object))
		}
	}
}

func inline(t *testing.T, text string) strict.Raw {
	t.Helper()
	var file struct {
		Objects strict.Raw `json:"objects,omitempty"`
	}
	_, problems := strict.Decode("x.yaml", []byte(text), &file)
	require.NoError(t, problems.Err())
	return file.Objects
}

func describe(objects []manifest.Object) []string {
	var all []string
	for _, object := range objects {
		all = append(all, object.String())
	}
	return all
}
