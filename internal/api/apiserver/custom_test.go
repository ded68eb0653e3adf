package apiserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"

	_ "github.com/csisim/csisim/internal/world/definition/rule"
)

// conversation is a client with its own server.
type conversation struct {
	t      *testing.T
	server *apiserver.Server
}

func converse(t *testing.T) *conversation {
	return &conversation{t, apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})}
}

type said struct {
	code   int
	header http.Header
	text   string
}

// field returns the value at a path of the answer, as text.
func (s said) field(path ...string) any {
	var value any
	if json.Unmarshal([]byte(s.text), &value) != nil {
		return nil
	}
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func (c *conversation) say(method, path, contentType, body string, headers ...string) said {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, "http://csisim"+path, strings.NewReader(body))
	require.NoError(c.t, err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.server.Config().Transport.RoundTrip(r)
	require.NoError(c.t, err)
	defer response.Body.Close()
	var text strings.Builder
	_, err = io.Copy(&text, response.Body)
	require.NoError(c.t, err)
	return said{response.StatusCode, response.Header, text.String()}
}

// post creates the object of the YAML, and expects success.
func (c *conversation) post(path, text string) said {
	c.t.Helper()
	answer := c.say("POST", path, "application/yaml", text)
	require.Equal(c.t, http.StatusCreated, answer.code, answer.text)
	return answer
}

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	widgetsPath     = "/apis/example.com/v1/namespaces/default/widgets"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    selectableFields: [{jsonPath: .spec.mode}]
    additionalPrinterColumns:
    - {name: Mode, type: string, jsonPath: .spec.mode}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(self.min) || self.min <= self.replicas", message: min is too large}
            properties:
              mode: {type: string, enum: [fast, slow], default: slow, description: how it goes}
              replicas: {type: integer, default: 1}
              min: {type: integer}
              id:
                type: string
                x-kubernetes-validations: [{rule: self == oldSelf, message: cannot change}]
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port]
                items:
                  type: object
                  required: [port]
                  properties: {port: {type: integer}, name: {type: string}}
          status: {type: object, properties: {replicas: {type: integer}}}
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: *schema
`

func widget(name, spec string) string {
	return "{apiVersion: example.com/v1, kind: Widget, metadata: {name: " + name + "}, spec: " + spec + "}"
}

func TestRulesOfADefinitionAreEnforced(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	answer := c.say("POST", widgetsPath, "application/yaml", widget("w", "{min: 3, replicas: 2}"))
	assert.Equal(t, http.StatusUnprocessableEntity, answer.code)
	assert.Equal(t, `Widget.example.com "w" is invalid: spec: Invalid value: min is too large`, answer.field("message"))
	c.post(widgetsPath, widget("w", "{id: a}"))
	answer = c.say("PATCH", widgetsPath+"/w", string(types.MergePatchType), `{"spec":{"id":"b"}}`)
	assert.Equal(t, `Widget.example.com "w" is invalid: spec.id: Invalid value: "b": cannot change`, answer.field("message"))
	answer = c.say("PATCH", widgetsPath+"/w", string(types.MergePatchType), `{"metadata":{"labels":{"a":"b"}}}`)
	assert.Equal(t, http.StatusOK, answer.code, answer.text)
}

func TestAnInvalidRuleIsRejected(t *testing.T) {
	c := converse(t)
	answer := c.say("POST", definitionsPath, "application/yaml", strings.Replace(widgets, "self == oldSelf", "self ==", 1))
	assert.Equal(t, http.StatusUnprocessableEntity, answer.code)
	assert.Contains(t, answer.field("message"), "spec.validation.openAPIV3Schema.properties[spec].properties[id].x-kubernetes-validations[0].rule: Invalid value")
}

func TestServerSideApplyMergesListsByTheirKeys(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	apply := func(manager, spec string) said {
		return c.say("PATCH", widgetsPath+"/w?fieldManager="+manager, string(types.ApplyYAMLPatchType), widget("w", spec))
	}
	assert.Equal(t, http.StatusCreated, apply("one", "{mode: fast, ports: [{port: 1, name: a}]}").code)
	answer := apply("two", "{ports: [{port: 2, name: b}]}")
	require.Equal(t, http.StatusOK, answer.code, answer.text)
	assert.Len(t, answer.field("spec", "ports"), 2)
	answer = apply("two", "{mode: slow}")
	assert.Equal(t, http.StatusConflict, answer.code)
	assert.Equal(t, `Apply failed with 1 conflict: conflict with "one": .spec.mode`, answer.field("message"))
	answer = apply("one", "{mode: fast}")
	assert.Equal(t, []any{map[string]any{"port": 2.0, "name": "b"}}, answer.field("spec", "ports"), "a manager that no longer applies an item gives it up")
}

func TestAVersionThatIsNotStoredShowsTheSameObjects(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	old := strings.Replace(widgetsPath, "/v1/", "/v1beta1/", 1)
	answer := c.post(old, strings.Replace(widget("w", "{mode: fast}"), "/v1", "/v1beta1", 1))
	assert.Equal(t, "example.com/v1beta1", answer.field("apiVersion"))
	assert.Equal(t, `299 - "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"`, answer.header.Get("Warning"))
	answer = c.say("GET", widgetsPath+"/w", "", "")
	assert.Equal(t, "example.com/v1", answer.field("apiVersion"))
	assert.Empty(t, answer.header.Get("Warning"))
}

func TestSelectableFieldsOfADefinitionSelect(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	c.post(widgetsPath, widget("a", "{mode: fast}"))
	c.post(widgetsPath, widget("b", "{}"))
	answer := c.say("GET", widgetsPath+"?fieldSelector=spec.mode%3Dfast", "", "")
	require.Len(t, answer.field("items"), 1)
	assert.Equal(t, "WidgetList", answer.field("kind"))
	assert.Equal(t, http.StatusBadRequest, c.say("GET", widgetsPath+"?fieldSelector=spec.min%3D1", "", "").code)
}

func TestScale(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	c.post(widgetsPath, widget("w", "{}"))
	c.post("/apis/apps/v1/namespaces/default/statefulsets", `
metadata: {name: web}
apiVersion: apps/v1
kind: StatefulSet
spec:
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}
`)
	for _, path := range []string{widgetsPath + "/w", "/apis/apps/v1/namespaces/default/statefulsets/web"} {
		answer := c.say("GET", path+"/scale", "", "")
		assert.Equal(t, "Scale", answer.field("kind"), answer.text)
		assert.EqualValues(t, 1, answer.field("spec", "replicas"))
		answer = c.say("PATCH", path+"/scale", string(types.MergePatchType), `{"spec":{"replicas":3}}`)
		assert.EqualValues(t, 3, answer.field("spec", "replicas"), answer.text)
		assert.EqualValues(t, 3, c.say("GET", path, "", "").field("spec", "replicas"))
		answer = c.say("PATCH", path+"/scale", string(types.MergePatchType), `{"spec":{"replicas":-1}}`)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.code)
		answer = c.say("PUT", path+"/scale", "application/json", fmt.Sprintf(`{"metadata":{"name":%q,"uid":"other"}}`, answer.field("details", "name")))
		assert.Equal(t, http.StatusConflict, answer.code)
		assert.Contains(t, answer.field("message"), "Precondition failed: UID in precondition: other, UID in object meta: ")
	}
}

// A manager that applies replicas to the scale owns them, like fields of the object itself.
// [k8s.io/kubernetes/test/integration/apiserver/apply TestApplyStatus,
// pkg/registry/apps/deployment/storage scaleUpdatedObjectInfo]
func TestAnAppliedScaleOwnsTheReplicas(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	c.post(widgetsPath, widget("web", "{}"))
	const deployments = "/apis/apps/v1/namespaces/default/deployments"
	c.post(deployments, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, "+
		"template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}}")
	for _, path := range []string{widgetsPath + "/web", deployments + "/web"} {
		apply := func(manager string, replicas int, query string) said {
			return c.say("PATCH", path+"/scale?fieldManager="+manager+query, string(types.ApplyYAMLPatchType),
				fmt.Sprintf("{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: web}, spec: {replicas: %d}}", replicas))
		}
		answer := apply("one", 3, "&force=true")
		assert.EqualValues(t, 3, answer.field("spec", "replicas"), answer.text)
		assert.Nil(t, answer.field("metadata", "managedFields"))
		applied := c.say("GET", path, "", "")
		assert.EqualValues(t, 3, applied.field("spec", "replicas"))
		assert.Contains(t, applied.field("metadata", "managedFields"), map[string]any{
			"manager": "one", "operation": "Apply", "subresource": "scale", "apiVersion": applied.field("apiVersion"), "fieldsType": "FieldsV1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
		})

		answer = apply("two", 4, "")
		assert.Equal(t, `Apply failed with 1 conflict: conflict with "one" with subresource "scale": .spec.replicas`, answer.field("message"))
		assert.Equal(t, http.StatusOK, apply("two", 4, "&force=true").code)
		owned := c.say("GET", path, "", "")
		assert.NotContains(t, owned.text, `"manager":"one"`)
		assert.Equal(t, http.StatusOK, apply("two", 4, "").code)
		assert.Equal(t, http.StatusOK, c.say("PATCH", path+"/scale", string(types.MergePatchType), `{"spec":{"replicas":4}}`).code)
		assert.Equal(t, owned.text, c.say("GET", path, "", "").text, "a write that changes nothing")
		assert.Contains(t, c.say("PATCH", path+"/scale?fieldManager=two", string(types.ApplyYAMLPatchType),
			"{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: web}, spec: {replicas: 4, bogus: 1}}").field("message"), ".spec.bogus: field not declared in schema")
	}
}

// kubectl get --subresource=scale prints the columns of a scale.
// [k8s.io/kubernetes/pkg/printers/internalversion scaleColumnDefinitions]
func TestAScaleHasSeparateColumns(t *testing.T) {
	c := converse(t)
	c.post(definitionsPath, widgets)
	c.post(widgetsPath, widget("w", "{}"))
	table := c.say("GET", widgetsPath+"/w/scale", "", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	var names []any
	for _, column := range table.field("columnDefinitions").([]any) {
		names = append(names, column.(map[string]any)["name"])
	}
	assert.Equal(t, []any{"Name", "Desired", "Available", "Age"}, names)
	assert.Equal(t, []any{"w", 1.0, 0.0}, table.field("rows").([]any)[0].(map[string]any)["cells"].([]any)[:3])
}

// Kinds without types in client-go have lists and owners of fields, and are encoded in JSON only.
func TestKindsWithoutTypesInClientGo(t *testing.T) {
	c := converse(t)
	const classes = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses"
	class := "{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: c}, driver: d, deletionPolicy: Delete}"
	answer := c.say("PATCH", classes+"/c?fieldManager=me", string(types.ApplyYAMLPatchType), class)
	require.Equal(t, http.StatusCreated, answer.code, answer.text)
	assert.Contains(t, answer.text, `"f:driver"`)
	answer = c.say("GET", classes, "", "", "Accept", "application/vnd.kubernetes.protobuf,application/json")
	assert.Equal(t, "application/json", answer.header.Get("Content-Type"))
	assert.Len(t, answer.field("items"), 1)

	body, err := yaml.YAMLToJSON([]byte(widgets))
	require.NoError(t, err)
	answer = c.say("PATCH", definitionsPath+"/widgets.example.com?fieldManager=me", string(types.ApplyYAMLPatchType), string(body))
	require.Equal(t, http.StatusCreated, answer.code, answer.text)
	answer = c.say("PATCH", definitionsPath+"/widgets.example.com?fieldManager=me", string(types.ApplyYAMLPatchType), string(body))
	require.Equal(t, http.StatusOK, answer.code, answer.text)
	assert.Contains(t, answer.text, `"f:versions"`)
	assert.Len(t, c.say("GET", definitionsPath, "", "").field("items"), 1)
}

// Reviews of permissions and of the user, without an authorizer: every user has all permissions.
func TestReviews(t *testing.T) {
	c := &conversation{t, apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})}
	answer := c.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"{apiVersion: authorization.k8s.io/v1, kind: SelfSubjectAccessReview, spec: {resourceAttributes: {verb: create, resource: pods}}}")
	assert.Equal(t, true, answer.field("status", "allowed"))
	answer = c.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", "{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}")
	assert.Equal(t, "kubernetes-admin", answer.field("status", "userInfo", "username"))

	c.post("/api/v1/namespaces/default/serviceaccounts", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: robot}}")
	answer = c.post("/api/v1/namespaces/default/serviceaccounts/robot/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest}")
	token := answer.field("status", "token").(string)
	for given, says := range map[string]any{token: true, token + "x": nil, "none": nil} {
		answer = c.post("/apis/authentication.k8s.io/v1/tokenreviews",
			"{apiVersion: authentication.k8s.io/v1, kind: TokenReview, spec: {token: '"+given+"'}}")
		assert.Equal(t, says, answer.field("status", "authenticated"), given)
	}
	answer = c.say("GET", "/apis/authorization.k8s.io/v1", "", "")
	assert.Contains(t, answer.text, "subjectaccessreviews")
}

// A server without an authorizer answers like a server in the mode AlwaysAllow: an impersonated
// user has all permissions, and no reason is given.
// [k8s.io/apiserver/pkg/authorization/authorizerfactory alwaysAllowAuthorizer]
func TestReviewsOfAnImpersonatedUserWithoutAnAuthorizer(t *testing.T) {
	c := &conversation{t, apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})}
	post := func(kind, spec string) said {
		return c.say("POST", "/apis/authorization.k8s.io/v1/"+strings.ToLower(kind)+"s", "application/yaml",
			"{apiVersion: authorization.k8s.io/v1, kind: "+kind+", spec: {"+spec+"}}", "Impersonate-User", "ann")
	}
	for _, asked := range []string{"resourceAttributes: {verb: create, resource: pods}", "nonResourceAttributes: {verb: get, path: /healthz}"} {
		answer := post("SelfSubjectAccessReview", asked)
		assert.Equal(t, http.StatusCreated, answer.code)
		assert.Equal(t, map[string]any{"allowed": true}, answer.field("status"))
	}
	rules := post("SelfSubjectRulesReview", "namespace: default")
	every := []any{"*"}
	assert.Equal(t, map[string]any{
		"incomplete":       false,
		"resourceRules":    []any{map[string]any{"verbs": every, "apiGroups": every, "resources": every}},
		"nonResourceRules": []any{map[string]any{"verbs": every, "nonResourceURLs": every}},
	}, rules.field("status"))
}

// [pkg/apis/authorization/validation; pkg/registry/authorization/selfsubjectrulesreview]
func TestReviewsThatAreInvalid(t *testing.T) {
	c := &conversation{t, apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})}
	const neither = "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified"
	const both = "resourceAttributes: {verb: get, resource: pods}, nonResourceAttributes: {verb: get, path: /x}"
	for _, try := range []struct{ place, kind, content, says string }{
		{"", "SelfSubjectAccessReview", "spec: {}", neither},
		{"", "SelfSubjectAccessReview", "spec: {" + both + "}",
			`spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: cannot be specified in combination with resourceAttributes`},
		{"", "SelfSubjectAccessReview", "metadata: {name: a}, spec: {resourceAttributes: {verb: get, resource: pods}}", `metadata: Invalid value: {"name":"a"}: must be empty`},
		{"", "SelfSubjectRulesReview", "spec: {}", "no namespace on request"},
		{"", "SubjectAccessReview", "spec: {}", "[" + neither + `, spec.user: Invalid value: "": at least one of user or group must be specified]`},
		{"namespaces/default/", "LocalSubjectAccessReview", "spec: {user: ann, resourceAttributes: {verb: get, resource: pods}}",
			`spec.resourceAttributes.namespace: Invalid value: "": must match metadata.namespace`},
		{"namespaces/default/", "LocalSubjectAccessReview", "spec: {user: ann, nonResourceAttributes: {verb: get, path: /x}}",
			`spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request`},
	} {
		answer := c.say("POST", "/apis/authorization.k8s.io/v1/"+try.place+strings.ToLower(try.kind)+"s", "application/yaml",
			"{apiVersion: authorization.k8s.io/v1, kind: "+try.kind+", "+try.content+"}")
		message := strings.TrimPrefix(answer.field("message").(string), try.kind+`.authorization.k8s.io "" is invalid: `)
		assert.Equal(t, try.says, message)
	}
}

// Built-in kinds that have definitions in a real cluster are shown with the columns of these
// definitions.
func TestColumnsOfSnapshots(t *testing.T) {
	c := converse(t)
	c.post("/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses",
		"{apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: c}, driver: d, deletionPolicy: Delete}")
	answer := c.say("GET", "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses", "", "", "Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	assert.Contains(t, answer.text, `"cells":["c","d","Delete","`)
}

// Definitions and objects that are accepted with a warning.
func TestWarningsOfDefinitionsAndTheirObjects(t *testing.T) {
	c := converse(t)
	answer := c.post(definitionsPath, strings.Replace(widgets, "min: {type: integer}", "min: {type: integer, format: tiny}", 1))
	assert.Contains(t, answer.header.Values("Warning"), `299 - "unrecognized format \"tiny\""`)
	answer = c.post(widgetsPath, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w, finalizers: [hold, a.b, example.com/hold]}}")
	assert.Equal(t, []string{
		`299 - "metadata.finalizers: \"a.b\": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"`,
		`299 - "metadata.finalizers: \"hold\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"`,
	}, answer.header.Values("Warning"))
	answer = c.say("PATCH", widgetsPath+"/w", string(types.MergePatchType), `{"metadata":{"labels":{"a":"b"}}}`)
	assert.Equal(t, http.StatusOK, answer.code, answer.text)
	assert.Empty(t, answer.header.Values("Warning"), "said once")
}
