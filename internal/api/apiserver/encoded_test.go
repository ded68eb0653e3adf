package apiserver_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// reencoded decodes a text and encodes it again with the library.
func reencoded(t *testing.T, mediaType string, text []byte) string {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	require.True(t, ok)
	obj, kind, err := info.Serializer.Decode(text, nil, nil)
	require.NoError(t, err, "%s", text)
	obj.GetObjectKind().SetGroupVersionKind(*kind) // in protobuf only the envelope contains it
	var again bytes.Buffer
	require.NoError(t, info.Serializer.Encode(obj, &again))
	return again.String()
}

// Answers are assembled from the texts of objects, and equal the library's encoding byte for byte.
func TestAnswersEqualTheEncodingOfTheLibrary(t *testing.T) {
	c := converse(t)
	for i := range 3 {
		c.post(claims, fmt.Sprintf(
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c%d, annotations: {text: '<a> & \"b\" \u2028'}}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %dGi}}}}", i, i+1))
	}
	c.post("/api/v1/namespaces/default/events",
		"{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: p, namespace: default}, reason: R, message: m, type: Normal}")
	for _, path := range []string{
		claims, claims + "?limit=2", claims + "?labelSelector=none", claims + "/c1", "/api/v1/events", "/apis/events.k8s.io/v1/events",
		"/apis/events.k8s.io/v1/namespaces/default/events/e", "/apis/storage.k8s.io/v1/volumeattachments",
	} {
		for _, mediaType := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
			for range 2 { // the second time the texts are cached
				answer := c.say("GET", path, "", "", "Accept", mediaType)
				require.Equal(t, http.StatusOK, answer.code, answer.text)
				assert.Equal(t, mediaType, answer.header.Get("Content-Type"))
				assert.Equal(t, reencoded(t, mediaType, []byte(answer.text)), answer.text, "%s %s", path, mediaType)
			}
		}
	}
}

// An answer has the current object, not the object that was encoded first.
func TestTextsFollowTheirObjects(t *testing.T) {
	s := kind.NewStore(store.Options{})
	server := apiserver.New(s, apiserver.Options{})
	ask(server, "POST", claims, "application/json", []byte(claimData))
	for n := range 3 {
		label(t, s, n+1)
		for _, path := range []string{claims, claims + "/data"} {
			assert.Contains(t, ask(server, "GET", path, "", nil).Body.String(), fmt.Sprintf(`"labels":{"n":"%d"}`, n), path)
		}
	}
	ask(server, "DELETE", claims+"/data", "", nil)
	assert.Contains(t, ask(server, "GET", claims, "", nil).Body.String(), `"deletionTimestamp"`)
}

// The other version of a stored kind has separate bookmarks.
func TestEventsOfBothGroupsAreWatchedWithBookmarks(t *testing.T) {
	c := converse(t)
	c.post("/api/v1/namespaces/default/events",
		"{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: p, namespace: default}, reason: R, message: m, type: Normal}")
	for path, field := range map[string]string{"/api/v1/events": `"message":"m"`, "/apis/events.k8s.io/v1/events": `"note":"m"`} {
		got := c.say("GET", path+"?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1", "", "").text
		lines := strings.Split(got, "\n")
		require.Len(t, lines, 4, got)
		assert.Contains(t, lines[0], `{"type":"ADDED","object":{"kind":"Event",`)
		assert.Contains(t, lines[0], field)
		assert.Contains(t, lines[1], `{"type":"BOOKMARK","object":{"kind":"Event",`)
		assert.Contains(t, lines[1], `"k8s.io/initial-events-end":"true"`)
	}
}
