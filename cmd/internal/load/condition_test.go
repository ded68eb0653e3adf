package load

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/load"
)

// level is a level with sequential calls of one kind.
func level(volumes int, runs [][]int64) load.Level {
	l := load.Level{Volumes: volumes}
	for _, took := range runs {
		c := &load.Calls{}
		at := int64(0)
		for _, t := range took {
			c.Began, c.Took = append(c.Began, at), append(c.Took, t)
			at += t
		}
		l.Runs = append(l.Runs, load.Run{
			Calls:  map[string]*load.Calls{"NodePublishVolume": c},
			Phases: []load.Phase{{Name: "up", Took: at}},
		})
	}
	return l
}

func equal(n int, took int64) (all []int64) {
	for range n {
		all = append(all, took)
	}
	return all
}

func result(levels ...load.Level) *load.Result {
	return &load.Result{Format: load.Format, Plan: load.Plan{}.WithDefaults(), Levels: levels}
}

func TestConditions(t *testing.T) {
	r := &Report{Result: result(level(10, [][]int64{equal(10, 2_000)}), level(100, [][]int64{equal(100, 20_000)}))}
	for text, holds := range map[string]bool{
		`p99(NodePublishVolume) > 19ms`:                          true,
		`p99("NodePublishVolume") > 21ms`:                        false,
		`p50(NodePublishVolume) > 0.01s`:                         true,
		`growth(NodePublishVolume) > 1.9`:                        true,
		`growth(NodePublishVolume) > 2.1`:                        false,
		`count(NodePublishVolume) == 100`:                        true,
		`errors(NodePublishVolume) > 0`:                          false,
		`throughput(NodePublishVolume) < 51`:                     true,
		`up > 1s && up < 1m`:                                     true,
		`slower > 10%`:                                           false,
		`count(NodeStageVolume) > 0 || max(NodePublishVolume)>0`: true,
	} {
		r.Conditions = nil
		require.NoError(t, r.Judge([]string{text}), text)
		assert.Equal(t, holds, r.Conditions[0].Holds, text)
		assert.NotEmpty(t, r.Conditions[0].Because, text)
	}
}

func TestAConditionHasAMistake(t *testing.T) {
	for text, problem := range map[string]string{
		`p95(NodePublishVolume) > 1s`: "undeclared reference to 'p95'",
		`p99(NodePublish) > 1s`:       "undeclared reference to 'NodePublish'",
		`p99(NodePublishVolume)`:      "it is double, and a condition is true or false",
		`up >`:                        "Syntax error",
	} {
		assert.ErrorContains(t, CheckCondition(text), problem, text)
	}
}

func TestADifferenceBeyondNoiseIsReported(t *testing.T) {
	noisy := func(base int64) (runs [][]int64) {
		for i := range int64(8) {
			runs = append(runs, equal(10, base+i*10))
		}
		return runs
	}
	same, err := Compare(result(level(10, noisy(1000))), result(level(10, noisy(1005))))
	require.NoError(t, err)
	assert.Zero(t, same.Slower())
	slower, err := Compare(result(level(10, noisy(1000))), result(level(10, noisy(1500))))
	require.NoError(t, err)
	assert.InDelta(t, 0.48, slower.Slower(), 0.02)
	assert.Empty(t, slower.Notes)
	faster, err := Compare(result(level(10, noisy(1500))), result(level(10, noisy(1000))))
	require.NoError(t, err)
	assert.Zero(t, faster.Slower())
	assert.True(t, faster.Rows[0].Beyond)
}

func TestFewRunsCannotDiffer(t *testing.T) {
	c, err := Compare(result(level(10, [][]int64{equal(10, 1000)})), result(level(10, [][]int64{equal(10, 9000)})))
	require.NoError(t, err)
	assert.Zero(t, c.Slower())
	assert.Equal(t, []string{"1 and 1 runs are too few to see a difference beyond noise; it takes 5 of each: --runs"}, c.Notes)
}

func TestResultsOfDifferentLoadsAreNotCompared(t *testing.T) {
	other := result(level(10, [][]int64{equal(10, 1000)}))
	other.Plan.Shape = load.Ramp
	_, err := Compare(other, result(level(10, [][]int64{equal(10, 1000)})))
	assert.EqualError(t, err, "its shape is ramp, that of this load burst")
	_, err = Compare(result(level(10, [][]int64{equal(10, 1000)})), result(level(20, [][]int64{equal(10, 1000)})))
	assert.ErrorContains(t, err, "no level in common")
}
