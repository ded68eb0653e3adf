package incident_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/incident/explain"
	"github.com/csisim/csisim/internal/world/trace"
)

// Given the logs of scenarios on a kind cluster, and the calls that csisim's proxies recorded in
// the same runs, when the logs are imported, then 95 % of the calls have their caller, order, code
// and duration, and 95 % of the imported calls were made. A kubelet 1.36, csi-provisioner 6.3,
// csi-attacher 4.12, csi-resizer 2.2, csi-snapshotter 8.6 and node-driver-registrar printed the
// logs with -v=5; the lines that no pattern recognizes are left out.
func TestStoriesOnKind(t *testing.T) {
	stories, err := filepath.Glob("testdata/stories/*")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(stories), 10)
	for _, story := range stories {
		t.Run(filepath.Base(story), func(t *testing.T) {
			recorded, err := os.Open(filepath.Join(story, "calls.jsonl"))
			require.NoError(t, err)
			defer recorded.Close()
			made := callsIn(t, recorded)
			var out bytes.Buffer
			_, err = incident.Run(t.Context(), incident.Options{Paths: []string{filepath.Join(story, "logs.tar.gz")}}, &out)
			require.NoError(t, err)
			found := callsIn(t, &out)
			agreed := inOrder(made, found)
			t.Logf("%d calls, %d found, %d agree", len(made), len(found), agreed)
			assert.GreaterOrEqual(t, agreed*100, 95*max(len(made), len(found)), "made %v\nfound %v", made, found)
		})
	}
}

// Given the logs of a scenario on a kind cluster, if all operations finally succeed, then nothing
// is stuck. In expand-node the last expansion fails.
func TestNothingIsStuckInStoriesThatEndWell(t *testing.T) {
	stories, err := filepath.Glob("testdata/stories/*")
	require.NoError(t, err)
	for _, story := range stories {
		var out bytes.Buffer
		_, err := incident.Run(t.Context(), incident.Options{Paths: []string{filepath.Join(story, "logs.tar.gz")}}, &out)
		require.NoError(t, err)
		read, err := explain.Read(&out)
		require.NoError(t, err)
		var titles []string
		for _, f := range read.Explain().Findings {
			titles = append(titles, f.Title)
		}
		if filepath.Base(story) == "expand-node" {
			assert.Equal(t, []string{"Volume pv-1 cannot be expanded on node-a: OutOfRange: no room"}, titles)
			continue
		}
		assert.Empty(t, titles, story)
	}
}

// madeCall is a call in the data of its caller and of a proxy.
type madeCall struct {
	From, Node, Method, Code string
	Took                     time.Duration
}

func callsIn(t *testing.T, from io.Reader) (all []madeCall) {
	t.Helper()
	for decoder := json.NewDecoder(from); decoder.More(); {
		var l trace.Line
		require.NoError(t, decoder.Decode(&l))
		if l.K != "" && l.K != trace.Call { // the record has only calls
			continue
		}
		c := madeCall{From: l.From, Method: l.M, Code: l.Code, Took: time.Duration(l.Ms) * time.Millisecond}
		if c.From == "kubelet" {
			c.Node = l.Node
		}
		all = append(all, c)
	}
	return all
}

// slower bounds how much longer a call takes for its caller than for a proxy before the driver, on
// the busy machine of the recording.
const slower = 50 * time.Millisecond

// is reports whether the call of a log is the recorded call.
func (c madeCall) is(recorded madeCall) bool {
	more := c.Took - recorded.Took
	c.Took, recorded.Took = 0, 0
	return c == recorded && more >= -5*time.Millisecond && more <= slower
}

// inOrder returns the length of the longest sequence of calls that both lists have in this order.
func inOrder(made, found []madeCall) int {
	row := make([]int, len(found)+1)
	for _, m := range made {
		diagonal := 0
		for j, f := range found {
			above := row[j+1]
			if f.is(m) {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(found)]
}
