package plan_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/plan"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/real/promotion"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A plan names every step with its place, and the reason if it is impossible on a real cluster.
func TestPlans(t *testing.T) {
	for _, name := range []string{"rwo-filesystem", "driver-gone", "stage-errors", "upgrade-drained", "force-detach", "crash-node-in-publish"} {
		t.Run(name, func(t *testing.T) {
			s, err := scenario.Load("../../../scenarios/" + name + ".yaml")
			require.NoError(t, err)
			p, err := plan.New(t.Context(), s, promotion.TargetOptions{On: "kind"})
			require.NoError(t, err)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(p.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), p.String())
		})
	}
}

// On a cluster that kind did not make, pods run the commands on nodes, and the power of nodes
// cannot be controlled.
func TestPlansOfAClusterOfAKubeconfig(t *testing.T) {
	for name, want := range map[string]string{
		"golden/kubelet-restart": "a privileged pod on the node does it",
		"golden/node-reboot":     "✗ csisim controls the power of nodes only with kind",
	} {
		s, err := scenario.Load("../../../scenarios/" + name + ".yaml")
		require.NoError(t, err)
		p, err := plan.New(t.Context(), s, promotion.TargetOptions{On: "kubeconfig"})
		require.NoError(t, err)
		assert.Contains(t, p.String(), want, name)
		p, err = plan.New(t.Context(), s, promotion.TargetOptions{On: "kind"})
		require.NoError(t, err)
		assert.NotContains(t, p.String(), want, name)
	}
}

// Plans cover every step of the library: each step has a description, or a reason why it is
// impossible.
func TestEveryStepOfTheLibraryIsPlanned(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/*.yaml")
	require.NoError(t, err)
	promotable := 0
	for _, file := range files {
		s, err := scenario.Load(file)
		require.NoError(t, err)
		refused := false
		for _, p := range s.Promote(promotion.TargetOptions{On: "kind"}) {
			assert.True(t, (p.Becomes == "") != (p.Never == ""), "%s:%d %s", file, p.Line, p.What)
			assert.NotEqual(t, "only a simulated cluster can do this", p.Never, "%s:%d %s", file, p.Line, p.What)
			assert.Positive(t, p.Line, "%s: %s", file, p.What)
			refused = refused || p.Never != ""
		}
		if !refused {
			promotable++
		}
	}
	assert.Greater(t, promotable, 25, strings.Join(files, " "))
}
