package web_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/standin/web"
)

// started starts a service with two machines.
func started(t *testing.T, o web.Options) *web.Service {
	t.Helper()
	require.NoError(t, o.Check())
	s := web.New(o)
	require.NoError(t, s.Start(t.TempDir()))
	for _, name := range []string{"node-a", "node-b"} {
		require.NoError(t, s.Furnish(standin.Node{Name: name}))
	}
	t.Cleanup(func() { require.NoError(t, s.Stop()) })
	return s
}

// ask makes a request, "POST /volumes {…}", and returns the status and the body.
func ask(t *testing.T, s *web.Service, request string) string {
	t.Helper()
	answer, err := send(t, s, request)
	if err != nil {
		return "no answer"
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return strings.TrimSpace(answer.Status[:4] + string(body))
}

func send(t *testing.T, s *web.Service, request string) (*http.Response, error) {
	t.Helper()
	words := append(strings.SplitN(request, " ", 3), "")
	r, err := http.NewRequest(words[0], s.URL("node-a")+words[1], strings.NewReader(words[2]))
	require.NoError(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return client.Do(r)
}

var volumes = web.Options{Collections: []web.Collection{{Path: "/volumes", Unique: []string{"name"}, StaleLists: true}}}

func TestACollectionHasTheUsualMethods(t *testing.T) {
	s := started(t, volumes)
	for _, c := range []struct{ request, want string }{
		{"GET /volumes", "200 []"},
		{`POST /volumes {"name":"a"}`, `201 {"id":"volume-1","name":"a"}`},
		{`POST /volumes {"name":"a"}`, `409 {"error":"name a exists"}`},
		{`PUT /volumes/x {"name":"b"}`, `201 {"id":"x","name":"b"}`},
		{"GET /volumes", `200 [{"id":"volume-1","name":"a"},{"id":"x","name":"b"}]`},
		{"GET /volumes?name=b", `200 [{"id":"x","name":"b"}]`},
		{`PATCH /volumes/x {"size":1}`, `200 {"id":"x","name":"b","size":1}`},
		{`PUT /volumes/x {"name":"c"}`, `200 {"id":"x","name":"c"}`},
		{"DELETE /volumes/x", "204"},
		{"DELETE /volumes/x", `404 {"error":"x not found"}`},
		{"GET /volumes/x", `404 {"error":"x not found"}`},
		{"POST /volumes {", `400 {"error":"unexpected end of JSON input"}`},
		{"PUT /volumes {}", `405 {"error":"PUT"}`},
		{"GET /shares", `404 {"error":"GET /shares is neither declared nor recorded"}`},
	} {
		assert.Equal(t, c.want, ask(t, s, c.request), c.request)
	}
}

func TestListsAndIdsHaveTheFieldsThatAreDeclared(t *testing.T) {
	s := started(t, web.Options{Collections: []web.Collection{{Path: "/v1/disks", ID: "uuid", Items: "items"}}})
	assert.Equal(t, `201 {"uuid":"disk-1"}`, ask(t, s, "POST /v1/disks {}"))
	assert.Equal(t, `200 {"items":[{"uuid":"disk-1"}]}`, ask(t, s, "GET /v1/disks"))
}

func TestRoutesAndRecordedRequestsGetTheirDeclaredAnswers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.har")
	const archive = `{"log":{"entries":[
		{"request":{"method":"GET","url":"https://storage.example.com/pools?x=1"},"response":{"status":503,"content":{"text":"busy"}}},
		{"request":{"method":"GET","url":"https://storage.example.com/pools"},"response":{"status":200,"content":{"text":"W10=","encoding":"base64"}}}]}}`
	require.NoError(t, os.WriteFile(file, []byte(archive), 0o600))
	s := started(t, web.Options{Recording: file, Routes: []web.Route{{Path: "/health/*", Body: "fine"}}})
	for _, c := range []struct{ request, want string }{
		{"GET /health/1", "200 fine"}, {"GET /pools", "503 busy"}, {"GET /pools", "200 []"}, {"GET /pools", "200 []"},
	} {
		assert.Equal(t, c.want, ask(t, s, c.request), c.request)
	}
}

// The failed answer is true afterwards: an object that is not found was deleted, and an object that
// conflicts exists.
func TestAWatchFailsARequest(t *testing.T) {
	for name, c := range map[string]struct {
		i             standin.Interference
		request, want string
		lists         string // afterwards
	}{
		"500":             {standin.Interference{Pattern: "*", Status: 500}, `POST /volumes {"name":"b"}`, `500 {"error":"injected"}`, "a"},
		"409 of a POST":   {standin.Interference{Pattern: "POST *", Status: 409}, `POST /volumes {"name":"b"}`, `409 {"error":"injected"}`, "a b"},
		"404 of a DELETE": {standin.Interference{Pattern: "DELETE /volumes/*", Status: 404}, "DELETE /volumes/volume-1", `404 {"error":"injected"}`, ""},
		"409 of a DELETE": {standin.Interference{Pattern: "*", Status: 409}, "DELETE /volumes/volume-1", `409 {"error":"injected"}`, "a"},
		"reset":           {standin.Interference{Pattern: "*", Reset: true}, `POST /volumes {"name":"b"}`, "no answer", "a b"},
		"stale":           {standin.Interference{Pattern: "*", Stale: true}, "GET /volumes", "200 []", "a"},
		"another request": {standin.Interference{Pattern: "PUT *", Status: 500}, "GET /volumes", `200 [{"id":"volume-1","name":"a"}]`, "a"},
		"the second one":  {standin.Interference{Pattern: "*", Nth: 2, Status: 500}, "DELETE /volumes/volume-1", "204", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := started(t, volumes)
			ask(t, s, `POST /volumes {"name":"a"}`)
			w := standin.NewWatch(c.i)
			s.Watch("node-a", w)
			assert.Equal(t, c.want, ask(t, s, c.request))
			w.End()
			var names []string
			for _, part := range strings.Split(ask(t, s, "GET /volumes"), `"name":"`)[1:] {
				names = append(names, part[:1])
			}
			assert.Equal(t, c.lists, strings.Join(names, " "))
			require.Len(t, w.Seen(), 1)
		})
	}
}

func TestAWatchSeesTheRequestsOfItsMachineAndTheLimitOfItsRate(t *testing.T) {
	s := started(t, volumes)
	mine, others := standin.NewWatch(standin.Interference{Pattern: "*", Status: 429, Times: 1}), standin.NewWatch(standin.Interference{})
	s.Watch("node-a", mine)
	s.Watch("node-b", others)
	limited, err := send(t, s, "GET /volumes/x")
	require.NoError(t, err)
	require.NoError(t, limited.Body.Close())
	assert.Equal(t, "1", limited.Header.Get("Retry-After"))
	ask(t, s, "GET /volumes/x")
	assert.Empty(t, others.Seen())
	assert.Equal(t, []standin.Request{
		{Method: "GET", Path: "/volumes/x", Route: "/volumes/*", Status: 429, Failed: true},
		{Method: "GET", Path: "/volumes/x", Route: "/volumes/*", Status: 404},
	}, mine.Seen())
}

func TestASlowRequestIsAnsweredAtTheEndOfTheWatch(t *testing.T) {
	s := started(t, volumes)
	w := standin.NewWatch(standin.Interference{Pattern: "*", Slow: true, Times: 1})
	s.Watch("node-a", w)
	answered := make(chan string, 1)
	go func() { answered <- ask(t, s, `POST /volumes {"name":"a"}`) }()
	select {
	case <-w.Reached:
	case <-time.After(time.Minute):
		t.Fatal("the request never came")
	}
	assert.Contains(t, ask(t, s, "GET /volumes"), "volume-1", "it is carried out")
	assert.Empty(t, answered)
	w.End()
	assert.Contains(t, <-answered, "201")
}

func TestAScenarioMakesOperationsFail(t *testing.T) {
	s := started(t, volumes)
	assert.Contains(t, s.Operations(), "GET /volumes/*")
	require.NoError(t, s.Fail(standin.Failure{Operation: "GET /volumes/*", Times: 1, Message: "out of order"}))
	assert.Equal(t, `500 {"error":"out of order"}`, ask(t, s, "GET /volumes/x"))
	assert.Contains(t, ask(t, s, "GET /volumes/x"), "404")
	require.NoError(t, s.Fail(standin.Failure{Operation: "GET /volumes", Code: 418}))
	require.NoError(t, s.Recover())
	assert.Equal(t, "200 []", ask(t, s, "GET /volumes"))
}

func TestMistakesInOptions(t *testing.T) {
	for want, o := range map[string]web.Options{
		"no collections, no routes": {},
		`"volumes" is not a clean`:  {Collections: []web.Collection{{Path: "volumes"}}},
		`"/a/" is not a clean`:      {Routes: []web.Route{{Path: "/a/"}}},
		"status 99":                 {Routes: []web.Route{{Path: "/a", Status: 99}}},
		"two collections":           {Collections: []web.Collection{{Path: "/a"}, {Path: "/a"}}},
	} {
		assert.ErrorContains(t, o.Check(), want)
	}
}
