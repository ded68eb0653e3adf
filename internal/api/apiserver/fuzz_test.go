package apiserver_test

import (
	"bytes"
	"encoding/json"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// knownServer returns a server with an object of each sort: an object with a Go type, a converted
// object, and a custom resource.
func knownServer(t testing.TB) *apiserver.Server {
	s := apiserver.New(kind.NewStore(store.Options{Guard: true}), apiserver.Options{})
	for _, make := range []struct{ path, body string }{
		{definitionsPath, widgets},
		{claims, claimData},
		{"/apis/events.k8s.io/v1/namespaces/default/events", `{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},"eventTime":"2026-01-01T00:00:00.000000Z",` +
			`"type":"Normal","reason":"r","action":"a","reportingController":"c","reportingInstance":"i"}`},
		{widgetsPath, widget("w", "{mode: fast, ports: [{port: 1}]}")},
	} {
		if answer := ask(s, "POST", make.path, "application/yaml", []byte(make.body)); answer.Code != http.StatusCreated {
			t.Fatalf("%s: %s", make.path, answer.Body)
		}
	}
	return s
}

// objectPaths are the paths of knownServer's objects.
var objectPaths = []string{
	claims + "/data", "/apis/events.k8s.io/v1/namespaces/default/events/e", widgetsPath + "/w", definitionsPath + "/widgets.example.com",
}

func ask(s *apiserver.Server, method, path, contentType string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://csisim/", bytes.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// panicsOfLibraries also occur in the real server.
var panicsOfLibraries = [][]byte{[]byte("json-patch")}

// notPanicking fails the test if a request causes a panic in csisim's own code.
func notPanicking(f *testing.F) {
	log.SetOutput(judge{f})
	f.Cleanup(func() { log.SetOutput(os.Stderr) })
}

type judge struct{ *testing.F }

func (j judge) Write(text []byte) (int, error) {
	for _, known := range panicsOfLibraries {
		if bytes.Contains(text, known) {
			return len(text), nil
		}
	}
	panic(string(text))
}

// sane checks that an answer is JSON of an object, or of a Status with an error, and that the error
// is not internal.
func sane(t *testing.T, answer *httptest.ResponseRecorder) {
	t.Helper()
	if answer.Header().Get("Content-Type") != "application/json" {
		return
	}
	var said struct {
		Kind, Message string
		Code          int
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &said); err != nil {
		t.Fatalf("no JSON: %v: %s", err, answer.Body)
	}
	if answer.Code >= 400 && (said.Kind != "Status" || said.Code != answer.Code || said.Message == "") {
		t.Fatalf("%d is no Status: %s", answer.Code, answer.Body)
	}
}

// unharmed checks that the server still serves its objects.
func unharmed(t *testing.T, s *apiserver.Server) {
	t.Helper()
	for _, path := range objectPaths {
		if answer := ask(s, "GET", path, "", nil); answer.Code != http.StatusOK {
			t.Fatalf("%s: %s", path, answer.Body)
		}
	}
}

var bodyTypes = []string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}

// FuzzDecode sends bodies to create and to replace objects.
func FuzzDecode(f *testing.F) {
	notPanicking(f)
	claim := &corev1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{Kind: "PersistentVolumeClaim", APIVersion: "v1"}, ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	var protobuf bytes.Buffer
	for _, info := range scheme.Codecs.SupportedMediaTypes() {
		if info.MediaType == bodyTypes[2] {
			if err := info.Serializer.Encode(claim, &protobuf); err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Add(uint8(2), uint8(0), protobuf.Bytes())
	for i, body := range []string{claimData, `{"apiVersion":"events.k8s.io/v1","kind":"Event"}`, widget("v", "{min: 1}"), widgets} {
		f.Add(uint8(1), uint8(i), []byte(body))
	}
	f.Add(uint8(0), uint8(2), []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x","labels":null},"spec":{"replicas":1.5,"ports":[{"port":1},{"port":1}]}}`))
	f.Add(uint8(0), uint8(2), []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":null,"spec":null}`))
	f.Add(uint8(1), uint8(0), []byte("a: &a [*a]"))
	s := knownServer(f)
	f.Fuzz(func(t *testing.T, contentType, path uint8, body []byte) {
		form, object := bodyTypes[int(contentType)%len(bodyTypes)], objectPaths[int(path)%len(objectPaths)]
		collection := object[:strings.LastIndex(object, "/")]
		for _, validation := range []string{"Strict", "Ignore"} {
			sane(t, ask(s, "POST", collection+"?dryRun=All&fieldValidation="+validation, form, body))
			sane(t, ask(s, "PUT", object+"?dryRun=All&fieldValidation="+validation, form, body))
		}
		sane(t, ask(s, "PUT", object+"/status?dryRun=All", form, body))
		// Options in a body take precedence.
		sane(t, ask(s, "DELETE", collection+"/none", form, body))
		unharmed(t, s)
	})
}

// FuzzDefinition makes definitions and objects of their kinds.
func FuzzDefinition(f *testing.F) {
	notPanicking(f)
	f.Add([]byte(widgets), []byte(widget("w", "{min: 1}")))
	f.Add([]byte(strings.ReplaceAll(widgets, "type: integer", "x-kubernetes-int-or-string: true")), []byte(widget("w", "{min: a}")))
	f.Add([]byte(strings.ReplaceAll(widgets, "{type: integer}", "{type: object, x-kubernetes-preserve-unknown-fields: true, nullable: true}")), []byte(widget("w", "{min: null}")))
	f.Add([]byte(strings.ReplaceAll(widgets, "default: 1", "default: {a: [null]}, nullable: true")), []byte(widget("w", "{replicas: null}")))
	f.Add([]byte(strings.ReplaceAll(widgets, "type: object", "type: object, additionalProperties: {type: string, pattern: '^a+$'}")), []byte(widget("w", "{}")))
	f.Fuzz(func(t *testing.T, definition, object []byte) {
		s := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})
		sane(t, ask(s, "POST", definitionsPath, "application/yaml", definition))
		for _, name := range []string{"v1", "v1beta1"} {
			path := strings.Replace(widgetsPath, "v1", name, 1)
			sane(t, ask(s, "POST", path, "application/yaml", object))
			sane(t, ask(s, "PATCH", path+"/w?fieldManager=f&force=true", string(types.ApplyYAMLPatchType), object))
			sane(t, ask(s, "PATCH", path+"/w", string(types.MergePatchType), []byte(`{"spec":{"min":0}}`)))
			sane(t, ask(s, "GET", path, "", nil))
		}
		sane(t, ask(s, "GET", "/openapi/v3/apis/example.com/v1", "", nil))
		sane(t, ask(s, "DELETE", definitionsPath+"/widgets.example.com", "", nil))
	})
}

var patchForms = []types.PatchType{types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyYAMLPatchType}

// FuzzPatch patches objects in every way.
func FuzzPatch(f *testing.F) {
	notPanicking(f)
	for i, body := range []string{
		`[{"op":"add","path":"/spec/accessModes/-","value":"ReadOnlyMany"},{"op":"move","from":"/metadata","path":"/spec"},{"op":"test","path":"","value":1}]`,
		`{"spec":{"resources":{"requests":{"storage":null}}},"metadata":{"finalizers":["a/b"]}}`,
		`{"metadata":{"finalizers":[{"$patch":"replace"}],"$deleteFromPrimitiveList/finalizers":["a"],"$setElementOrder/finalizers":[1]}}`,
		`{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data","managedFields":[]},"spec":{"accessModes":["ReadOnlyMany"]}}`,
		`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"ports":[{"port":1},{"port":2}]}}`,
		`[{"op":"copy","from":"/spec","path":"/spec/a"},{"op":"remove","path":"/metadata/name"},{"op":"replace","path":"/kind","value":null}]`,
		`null`, `[]`, `"a"`, `{"spec":null,"metadata":null}`, `[null]`, `[{"op":"add","path":"","value":null}]`,
	} {
		for form := range patchForms {
			f.Add(uint8(form), uint8(i), []byte(body))
		}
	}
	s := knownServer(f)
	f.Fuzz(func(t *testing.T, form, path uint8, body []byte) {
		object, kind := objectPaths[int(path)%len(objectPaths)], string(patchForms[int(form)%len(patchForms)])
		for _, part := range []string{"", "/status", "/scale"} {
			sane(t, ask(s, "PATCH", object+part+"?dryRun=All&fieldManager=f&force=true", kind, body))
		}
		sane(t, ask(s, "PATCH", object+"?dryRun=All&fieldManager=f&fieldValidation=Strict", kind, body))
		unharmed(t, s)
	})
}

// FuzzSelectors lists with any options.
func FuzzSelectors(f *testing.F) {
	notPanicking(f)
	f.Add("a=b,c!=d,e in (f,g),!h", "metadata.name=data", "0", "10", "", "NotOlderThan")
	f.Add("a notin ()", "spec.mode!=fast,metadata.namespace==default", "1", "1", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9", "Exact")
	f.Add("a>1,b<2", `metadata.name=a\,b\=c`, "x", "-1", "e30", "")
	f.Add("(", "=", "", "9223372036854775807", "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "Some")
	s := knownServer(f)
	f.Fuzz(func(t *testing.T, labels, fields, version, limit, token, match string) {
		if len(version) > 2 {
			return // the server waits for a future version
		}
		query := url.Values{
			"labelSelector": {labels}, "fieldSelector": {fields}, "resourceVersion": {version}, "limit": {limit},
			"continue": {token}, "resourceVersionMatch": {match},
		}
		for name, values := range query { // any order: empty ones are left out
			if values[0] == "" {
				delete(query, name)
			}
		}
		if _, isNumber := map[string]bool{"": true, "0": true, "1": true, "2": true}[version]; !isNumber {
			query.Set("resourceVersion", "x"+version)
		}
		for _, path := range []string{claims, widgetsPath, "/api/v1/events", definitionsPath} {
			sane(t, ask(s, "GET", path+"?"+query.Encode(), "", nil))
			sane(t, ask(s, "DELETE", path+"?dryRun=All&"+query.Encode(), "", nil))
		}
		unharmed(t, s)
	})
}

// FuzzPath requests any path.
func FuzzPath(f *testing.F) {
	notPanicking(f)
	for _, path := range append([]string{
		"", "/", "//", "/api", "/apis//v1", "/api/v1//pods", "/api/v1/namespaces//pods", "/api/v1/namespaces/default/pods/a/b/c/d",
		"/openapi/v3/..", "/openapi/v3/apis/storage.k8s.io/v1", "/readyz/ping", "/version", "/metrics", "/apis/apps/v1/namespaces/default/statefulsets/x/scale",
		"/api/v1/namespaces/default/status", "/api/v1/namespaces/default/finalize", "/api/v1/watch/pods", "/api/v1/namespaces/\x00",
	}, objectPaths...) {
		f.Add("GET", path, "as=Table;g=meta.k8s.io;v=v1")
		f.Add("HEAD", path, "*/*")
	}
	f.Add("PATCH", claims+"/data", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	f.Add("OPTIONS", claims, "a/b;q=x,")
	f.Fuzz(func(t *testing.T, method, path, accept string) {
		if method == "DELETE" || method == "POST" || method == "PUT" {
			return // they may change objects
		}
		s := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})
		r := httptest.NewRequest("GET", "http://csisim/", nil)
		r.Method, r.URL.Path = method, strings.ReplaceAll(path, "watch", "")
		r.Header.Set("Accept", accept)
		s.ServeHTTP(httptest.NewRecorder(), r)
	})
}
