package strict_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/input/strict/stricttest"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

const header = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"

func read(t *testing.T, text string) (scenario, *strict.Document) {
	t.Helper()
	var s scenario
	document, problems := strict.Decode("x.yaml", []byte(header+text), &s)
	require.NoError(t, problems.Err())
	return s, document
}

func TestEveryMistakeIsReportedAtOnceWithItsPlace(t *testing.T) {
	stricttest.Golden(t, "testdata/mistakes.txt", func(input string) string {
		_, problems := strict.Decode("x.yaml", []byte(input), &scenario{})
		return problems.Error()
	})
}

func TestErrorsOfMalformedYAMLAreRephrasedWithTheirPosition(t *testing.T) {
	stricttest.Golden(t, "testdata/malformed.txt", func(input string) string {
		_, problems := strict.Decode("x.yaml", []byte(input), &scenario{})
		return problems.Error()
	})
}

func TestInvalidTextIsRejected(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no bytes":          {"", `x.yaml:1:1: found an empty file, want a map with apiVersion, kind`},
		"only a comment":    {"# nothing\n", `x.yaml:1:1: found an empty file, want a map with apiVersion, kind`},
		"not UTF-8":         {"a: b\nc: é\xff\n", `x.yaml:2:5: found malformed YAML: byte 0xff, which is not UTF-8, want text in UTF-8`},
		"control character": {"a: b\nc: \x01\n", `x.yaml:2:4: found malformed YAML: a control character, want text without it, or a \x escape in double quotes`},
	} {
		t.Run(name, func(t *testing.T) {
			_, problems := strict.Decode("x.yaml", []byte(c.text), &scenario{})
			assert.Equal(t, c.want, problems.Error())
		})
	}
}

func TestLineEndsOfWindowsAreLineEnds(t *testing.T) {
	_, problems := strict.Decode("x.yaml", []byte("apiVersion: csisim.dev/v1alpha1\r\nkind: Scenario\r\nlimits:\r\n  a: b\r\n"), &scenario{})
	assert.Equal(t, `x.yaml:4:6: limits.a: found string "b", want a whole number`, problems.Error())
}

func TestEveryFormIsRead(t *testing.T) {
	s, _ := read(t, `
cluster:
  nodes: 3
  zones: [east, west]
  mode: calm
  ready: true
  disks:
  - disk-a
  - {name: disk-b, size: 5}
  - name: disk-c
limits: {pods: 110}
factor: 1
labels: {app.kubernetes.io/name: csi}
payload: aGVsbG8=
extra: {list: [1, 2.5, text, null, true]}
timeout: 2m
steps:
- wait: {pod: web-0}
- reboot:
- together:
    steps:
    - wait: {pod: web-1, for: 5s}
---
`)
	mode, factor := "calm", 1.0
	want := scenario{
		APIVersion: "csisim.dev/v1alpha1", Kind: "Scenario",
		Cluster: cluster{Nodes: 3, Zones: []string{"east", "west"}, Mode: &mode, Ready: true,
			Disks: []disk{{"disk-a", 10}, {"disk-b", 5}, {"disk-c", 10}}},
		Limits:  map[string]int32{"pods": 110},
		Factor:  &factor,
		Labels:  map[string]string{"app.kubernetes.io/name": "csi"},
		Payload: []byte("hello"),
		Extra:   map[string]any{"list": []any{int64(1), 2.5, "text", nil, true}},
		timing:  timing{Timeout: strict.Duration{Duration: 2 * time.Minute}},
		Steps: []step{
			{"wait", &wait{Pod: "web-0", For: strict.Duration{Duration: 90 * time.Second}}},
			{"reboot", &reboot{}},
			{"together", &together{Steps: []step{{"wait", &wait{Pod: "web-1", For: strict.Duration{Duration: 5 * time.Second}}}}}},
		},
	}
	assert.Equal(t, want, s)
}

func TestMissingKeysGetTheirDefaults(t *testing.T) {
	s, _ := read(t, "")
	assert.Equal(t, uint8(2), s.Cluster.Nodes, "also inside of a map that is left out")
	assert.Equal(t, 6*time.Minute, s.Timeout.Duration)
}

func TestMergeKeysAddKeysThatAMapLacks(t *testing.T) {
	s, _ := read(t, `
steps:
- wait: &patient {pod: web-0, for: 10m}
- wait:
    <<: *patient
    pod: web-1
- wait:
    <<: [{pod: web-2}, *patient]
`)
	long := strict.Duration{Duration: 10 * time.Minute}
	assert.Equal(t, &wait{Pod: "web-1", For: long}, s.Steps[1].Do)
	assert.Equal(t, &wait{Pod: "web-2", For: long}, s.Steps[2].Do)
}

func TestPositionsOfValuesAreKeptForLaterChecks(t *testing.T) {
	_, document := read(t, `
labels:
  app.kubernetes.io/name: csi
steps:
- reboot: {node: worker-9}
`)
	at := document.Positions.At
	assert.Equal(t, strict.Position{Line: 7, Column: 18}, at("steps[0].reboot.node"))
	assert.Equal(t, strict.Position{Line: 5, Column: 27}, at(`labels["app.kubernetes.io/name"]`))
	assert.Equal(t, at("steps[0].reboot"), at("steps[0].reboot.force"), "the value around one that is left out")
	assert.Equal(t, at("labels"), at(`labels["a\"]b[\""]`))
	assert.Equal(t, strict.Position{Line: 1, Column: 1}, at("nowhere"))

	document.Report("steps[0].reboot.node", `node "worker-9"`, "one of worker-1, worker-2")
	assert.Equal(t, `x.yaml:7:18: steps[0].reboot.node: found node "worker-9", want one of worker-1, worker-2`,
		document.Problems().Error())
}

func TestRawKeepsPlaceAndPathForLaterDecoding(t *testing.T) {
	s, _ := read(t, "objects:\n  inner:\n    pod: 7\n")
	later := s.Objects.Open(nil)
	var into struct {
		Inner wait `json:"inner"`
	}
	later.Root.Decode(&into)
	assert.Equal(t, `x.yaml:5:10: objects.inner.pod: found number 7, want a string such as "web-0"`, later.Problems().Error())
}

func TestTextInsideOfALiteralBlockKeepsItsPlace(t *testing.T) {
	s, _ := read(t, "objects: |\n\n    pod: 7\n    for: 1s\n")
	block, ok := s.Objects.Open(nil).Root.Block()
	require.True(t, ok)
	documents, problems := strict.Parse(block)
	require.NoError(t, problems.Err())
	documents[0].Root.Decode(&wait{})
	assert.Equal(t, `x.yaml:5:10: pod: found number 7, want a string such as "web-0"`, documents[0].Problems().Error())
}

func TestTextInsideOfAQuotedStringIsAtTheString(t *testing.T) {
	s, _ := read(t, `objects: "\npod: 7"`)
	block, _ := s.Objects.Open(nil).Root.Block()
	documents, _ := strict.Parse(block)
	documents[0].Root.Decode(&wait{})
	assert.Equal(t, `x.yaml:3:10: pod: found number 7, want a string such as "web-0"`, documents[0].Problems().Error())
}

func TestNoProblemsAreNoError(t *testing.T) {
	assert.NoError(t, strict.Problems(nil).Err())
}

func TestNearestReturnsNothingForADistantWord(t *testing.T) {
	known := []string{"Pod", "accessModes", "persistentVolumeClaim"}
	for word, want := range map[string]string{
		"Pdo": "Pod", "access_modes": "accessModes", "persistentVolumeclaims": "persistentVolumeClaim",
		"Node": "", "x": "", "": "",
	} {
		assert.Equal(t, want, strict.Nearest(word, known), word)
	}
}
