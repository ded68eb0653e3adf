package apiserver_test

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

var recorded = flag.String("recorded", "testdata/api,testdata/more", "the directories with the requests and answers to replay")

// TestAnswersAreThoseOfTheRealServer sends the recorded requests. The requests in
// testdata/differences.yaml must be answered differently, all others equally.
func TestAnswersAreThoseOfTheRealServer(t *testing.T) {
	known := knownDifferences(t)
	var files []string
	for _, dir := range strings.Split(*recorded, ",") {
		found, err := filepath.Glob(filepath.Join(dir, "requests", "*.yaml"))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		files = append(files, found...)
	}
	var requests, equal atomic.Int32
	t.Cleanup(func() { t.Logf("%d of %d answers are those of the real server", equal.Load(), requests.Load()) })
	for _, file := range files {
		dir, group := filepath.Dir(filepath.Dir(file)), strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(filepath.Base(dir)+"/"+group, func(t *testing.T) {
			t.Parallel() // some answers take time
			for _, r := range replay(t, dir, group) {
				requests.Add(1)
				if len(r.differences) == 0 {
					equal.Add(1)
				}
				_, expected := known[group+"/"+r.id]
				switch {
				case expected && len(r.differences) == 0:
					t.Errorf("%s: is equal now: take it out of testdata/differences.yaml", r.id)
				case !expected && len(r.differences) > 0:
					t.Errorf("%s:\n  %s", r.id, strings.Join(r.differences, "\n  "))
				}
			}
		})
	}
}

// knownDifferences returns the requests with different answers, with the reason.
func knownDifferences(t *testing.T) map[string]string {
	text, err := os.ReadFile("testdata/differences.yaml")
	require.NoError(t, err)
	known := map[string]string{}
	require.NoError(t, k8syaml.UnmarshalStrict(text, &known))
	for id, reason := range known {
		require.NotEmpty(t, reason, id)
	}
	return known
}

type script struct {
	Group, About  string
	Namespaces    []string
	ManagedFields string `yaml:"managedFields"`
	Requests      []scripted
}

type scripted struct {
	ID, Note, Method, Path, Raw string
	Query                       map[string]any
	Headers                     map[string]string
	Body                        *ordered
	Watch                       *struct {
		Events     int
		Background bool
	}
	Compact bool
	Prune   map[string][]string
}

type outcome struct {
	id          string
	differences []string
}

// replay sends the requests of one group to its own server.
func replay(t *testing.T, dir, group string) []outcome {
	var s script
	text, err := os.ReadFile(filepath.Join(dir, "requests", group+".yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &s))
	var want struct{ Answers []map[string]any }
	text, err = os.ReadFile(filepath.Join(dir, "answers", group+".yaml"))
	require.NoError(t, err)
	require.NoError(t, k8syaml.Unmarshal(text, &want))
	p := newPlayer(t, s)
	answers := map[string]map[string]any{}
	for _, request := range s.Requests {
		if request.Compact {
			p.server.Compact()
			continue
		}
		answers[request.ID] = p.play(request)
	}
	p.background.Wait()
	var outcomes []outcome
	c := &comparison{bound: map[string]string{}, started: p.started}
	for _, w := range want.Answers {
		id := w["id"].(string)
		delete(w, "id")
		got, played := answers[id]
		require.True(t, played, "no request %s", id)
		c.differences = nil
		c.compare("", w, got)
		outcomes = append(outcomes, outcome{id, slices.Clone(c.differences)})
	}
	return outcomes
}

const bearer = "replayed"

func newPlayer(t *testing.T, s script) *player {
	objects := kind.NewStore(store.Options{Now: time.Now}, kind.NoServiceAccounts, kind.TaintNewNodes)
	server := apiserver.New(objects, apiserver.Options{Token: bearer})
	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	p := &player{t: t, server: server, address: listener.URL, keep: s.ManagedFields == "keep", answered: map[string]any{}, started: time.Now()}
	for _, name := range s.Namespaces {
		p.play(scripted{Method: "POST", Path: "/api/v1/namespaces", Headers: map[string]string{"Content-Type": "application/json"},
			Raw: fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, name)})
	}
	return p
}
