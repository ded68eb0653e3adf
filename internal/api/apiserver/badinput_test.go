package apiserver_test

import (
	"io"
	"log"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

const claims = "/api/v1/namespaces/default/persistentvolumeclaims"

const claimData = `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`

// Bad requests get the real server's errors.
func TestBadInput(t *testing.T) {
	const jsonType, protobufType, mergeType = "application/json", "application/vnd.kubernetes.protobuf", "application/merge-patch+json"
	c := converse(t)
	c.post(claims, claimData)
	long := strings.Repeat("x", 300)
	for name, try := range map[string]struct {
		method, path, contentType, body string
		code                            int
		says                            string
	}{
		"unknown kind": {"POST", claims, jsonType, `{"apiVersion":"v1","kind":"Claim"}`, 400, `no kind "Claim" is registered for version "v1"`},
		"another kind": {"POST", claims, jsonType, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"}}`, 400,
			"Secret in version \"v1\" cannot be handled as a PersistentVolumeClaim"},
		"unknown field": {"POST", claims + "?fieldValidation=Strict", jsonType, strings.Replace(claimData, `"spec":{`, `"spec":{"size":1,`, 1), 400,
			`strict decoding error: unknown field "spec.size"`},
		"wrong type": {"POST", claims, jsonType, strings.Replace(claimData, `"data"`, `{"a":1}`, 1), 400,
			"json: cannot unmarshal object into Go struct field ObjectMeta.metadata.name of type string"},
		"broken JSON":       {"POST", claims, jsonType, `{"apiVersion":`, 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		"no body":           {"POST", claims, jsonType, "", 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"},
		"a list as body":    {"POST", claims, jsonType, "[]", 400, "json parse error: json: cannot unmarshal array"},
		"broken YAML":       {"POST", claims, "application/yaml", "a: [", 400, "did not find expected node content"},
		"no protobuf":       {"POST", claims, protobufType, "k8", 400, "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"},
		"broken protobuf":   {"POST", claims, protobufType, "k8s\x00\xff\xff\xff", 400, "unexpected EOF"},
		"unknown form":      {"POST", claims, "text/plain", claimData, 415, "the body of the request was in an unknown format"},
		"too long":          {"POST", claims, jsonType, `{"a":"` + strings.Repeat("x", 3<<20) + `"}`, 413, "limit is 3145728"},
		"too long a patch":  {"PATCH", claims + "/data", mergeType, `{"a":"` + strings.Repeat("x", 3<<20) + `"}`, 413, "limit is 3145728"},
		"too long a delete": {"DELETE", claims + "/data", jsonType, `{"a":"` + strings.Repeat("x", 3<<20) + `"}`, 413, "limit is 3145728"},
		"stale version":     {"PUT", claims + "/data", jsonType, strings.Replace(claimData, `"data"`, `"data","resourceVersion":"1"`, 1), 409, "the object has been modified"},
		"forbidden change":  {"PATCH", claims + "/data", mergeType, `{"spec":{"accessModes":["ReadOnlyMany"]}}`, 422, "spec is immutable after creation"},
		"patch of nothing":  {"PATCH", claims + "/none", mergeType, `{}`, 404, `persistentvolumeclaims "none" not found`},
		"broken patch":      {"PATCH", claims + "/data", mergeType, `{`, 400, "error decoding patch"},
		"patch of no path":  {"PATCH", claims + "/data", "application/json-patch+json", `[{"op":"remove","path":"/none"}]`, 422, "the server rejected our request due to an error in our request"},
		"patch of the name": {"PATCH", claims + "/data", mergeType, `{"metadata":{"name":"other"}}`, 400, "the name of the object (other) does not match the name on the URL (data)"},
		"unknown field of a patch": {"PATCH", claims + "/data?fieldValidation=Strict", "application/json-patch+json", `[{"op":"test","path":"/kind","value":"PersistentVolumeClaim","note":"x"}]`, 422,
			`strict decoding error: json patch unknown field "[0].note"`},
		"unknown patch":      {"PATCH", claims + "/data", "application/patch", `{}`, 415, "Unsupported Media Type"},
		"label selector":     {"GET", claims + "?labelSelector=a%20%20b", "", "", 400, "unable to parse requirement"},
		"field selector":     {"GET", claims + "?fieldSelector=spec.size%3D1", "", "", 400, "is not a known field selector"},
		"version":            {"GET", claims + "?resourceVersion=x", "", "", 400, "Invalid value"},
		"limit":              {"GET", claims + "?limit=x", "", "", 400, "strconv.ParseInt"},
		"continue":           {"GET", claims + "?continue=x", "", "", 400, "continue key is not valid"},
		"climbing name":      {"GET", claims + "/..", "", "", 400, `Name parameter invalid: "..": may not be '..'`},
		"climbing namespace": {"GET", "/api/v1/namespaces/../pods/x", "", "", 500, `invalid key: "/pods/../x"`},
		"climbing list":      {"GET", "/api/v1/namespaces/../pods", "", "", 500, `invalid key: "/pods/.."`},
		"encoded slash":      {"GET", claims + "/a%2Fb", "", "", 404, "the server could not find the requested resource"},
		"encoded percent":    {"GET", claims + "/a%25b", "", "", 400, `Name parameter invalid: "a%b": may not contain '%'`},
		"encoded climbing":   {"DELETE", claims + "/%2E%2E", "", "", 400, `Name parameter invalid: "..": may not be '..'`},
		"long name":          {"GET", claims + "/" + long, "", "", 404, `persistentvolumeclaims "` + long + `" not found`},
		"long name to make":  {"POST", claims, jsonType, strings.Replace(claimData, `"data"`, `"`+long+`"`, 1), 422, "must be no more than 253"},
		"nul in a name":      {"GET", claims + "/a%00b", "", "", 404, "not found"},
		"a shell in no pod":  {"POST", "/api/v1/namespaces/default/pods/x/exec?command=ls", "", "", 404, `pods "x" not found`},
		"changing a shell":   {"PUT", "/api/v1/namespaces/default/pods/x/exec", "", "", 405, "the server does not allow this method"},
		"ports of no pod":    {"POST", "/api/v1/namespaces/default/pods/x/portforward", "", "", 404, `pods "x" not found`},
		"a port":             {"POST", "/api/v1/namespaces/default/pods/x/portforward?ports=http", "", "", 400, `cannot convert to []int32: strconv.ParseUint: parsing "http"`},
		"a log's end":        {"GET", "/api/v1/namespaces/default/pods/x/log?tailLines=x", "", "", 400, `strconv.ParseInt: parsing "x"`},
		"unknown API":        {"GET", "/apis/apps/v1/things", "", "", 404, "the server could not find the requested resource"},
		"unknown dry run":    {"POST", claims + "?dryRun=Some", jsonType, claimData, 422, `dryRun: Unsupported value: ["Some"]: supported values: "All"`},
		"unknown validation": {"POST", claims + "?fieldValidation=Some", jsonType, claimData, 422, `fieldValidation: Unsupported value`},
		"unknown policy":     {"DELETE", claims + "/data?propagationPolicy=Some", "", "", 422, "propagationPolicy: Unsupported value"},
		"another version":    {"DELETE", claims + "/data", jsonType, `{"preconditions":{"resourceVersion":"x"}}`, 409, "the ResourceVersion in the precondition (x) does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &conversation{t, c.server}
			answer := c.say(try.method, try.path, try.contentType, try.body)
			assert.Equal(t, try.code, answer.code, answer.text)
			assert.Contains(t, answer.field("message"), try.says)
			assert.Equal(t, "Status", answer.field("kind"))
		})
	}
	assert.Equal(t, http.StatusOK, c.say("GET", claims+"/data", "", "").code, "it is still there")
}

// A patch that makes a library panic fails one request only, as with the real server.
func TestAPanicIsAnsweredWithAnError(t *testing.T) {
	log.SetOutput(io.Discard)
	defer log.SetOutput(os.Stderr)
	c := converse(t)
	c.post(claims, claimData)
	answer := c.say("PATCH", claims+"/data", "application/json-patch+json", `[{"op":"test","path":""}]`)
	assert.Equal(t, http.StatusInternalServerError, answer.code)
	assert.Equal(t, "This request caused apiserver to panic. Look in the logs for details.\n", answer.text)
	assert.Equal(t, http.StatusOK, c.say("GET", claims+"/data", "", "").code)
}

func TestRequestsWithoutTheTokenAreUnauthorized(t *testing.T) {
	c := &conversation{t, apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{Token: "right"})}
	for _, token := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Bearer right2", "Basic cmlnaHQ="} {
		answer := c.say("GET", claims, "", "", "Authorization", token)
		assert.Equal(t, http.StatusUnauthorized, answer.code, token)
		assert.Equal(t, "Unauthorized", answer.field("message"), token)
	}
	assert.Equal(t, http.StatusOK, c.say("GET", claims, "", "", "Authorization", "Bearer right").code)
}

// If an object is removed after its page was listed, the rest of the collection is still deleted.
func TestDeletingACollectionSkipsRemovedObjects(t *testing.T) {
	const maps = "/api/v1/namespaces/default/configmaps"
	c := converse(t)
	for _, name := range []string{"a", "b", "c"} {
		c.post(maps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"`+name+`"}}`)
	}
	next := c.say("GET", maps+"?limit=1", "", "").field("metadata", "continue").(string)
	assert.Equal(t, http.StatusOK, c.say("DELETE", maps+"/b", "", "").code)
	assert.Equal(t, http.StatusOK, c.say("DELETE", maps+"?continue="+next, "", "").code)
	assert.Equal(t, http.StatusNotFound, c.say("GET", maps+"/c", "", "").code)
	assert.Equal(t, http.StatusOK, c.say("GET", maps+"/a", "", "").code)
}
