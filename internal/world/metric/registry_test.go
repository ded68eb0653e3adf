package metric_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/metric"
)

func TestMetricsEqualTheRealOnes(t *testing.T) {
	var r metric.Registry
	r.Add("volumes_total", 1, "plugin", "a", "state", "mounted")
	r.Add("volumes_total", 2, "plugin", "a", "state", "mounted")
	r.Set("abnormal", 1)
	r.Set("gone", 1)
	r.Forget("gone")
	r.Collect(func(set func(string, float64, ...string)) { set("looked_up", 7, "a", "b") })
	for _, d := range []time.Duration{50 * time.Millisecond, 250 * time.Millisecond, time.Minute} {
		r.Observe("seconds", []float64{.1, .25}, d, "driver", `a "b"`)
	}
	assert.Equal(t, []string{
		`abnormal 1`,
		`looked_up{a="b"} 7`,
		`seconds_bucket{driver="a \"b\"",le="+Inf"} 3`,
		`seconds_bucket{driver="a \"b\"",le="0.1"} 1`,
		`seconds_bucket{driver="a \"b\"",le="0.25"} 2`,
		`seconds_count{driver="a \"b\""} 3`,
		`seconds_sum{driver="a \"b\""} 60.3`,
		`volumes_total{plugin="a",state="mounted"} 3`,
	}, r.Lines())
	assert.Equal(t, 3.0, r.Value("volumes_total", "plugin", "a", "state", "mounted"))
	assert.Equal(t, 3.0, r.Value("seconds", "driver", `a "b"`))
	assert.Zero(t, r.Value("nothing"))
}

func TestMetricsOfAProgramAreText(t *testing.T) {
	var one, two metric.Registry
	one.Add("volumes_total", 2, "plugin", "a")
	one.Observe("seconds", []float64{.1, 1}, 250*time.Millisecond, "driver", "a")
	one.Collect(func(set func(string, float64, ...string)) { set("looked_up", 7, "a", `"b"`) })
	two.Add("volumes_total", 3, "plugin", "b")
	two.Set("abnormal", 1)
	var text strings.Builder
	require.NoError(t, metric.WriteText(&text, &one, &two))
	assert.Equal(t, `# TYPE abnormal gauge
abnormal 1
# TYPE looked_up gauge
looked_up{a="\"b\""} 7
# TYPE seconds histogram
seconds_bucket{driver="a",le="0.1"} 0
seconds_bucket{driver="a",le="1"} 1
seconds_bucket{driver="a",le="+Inf"} 1
seconds_sum{driver="a"} 0.25
seconds_count{driver="a"} 1
# TYPE volumes_total counter
volumes_total{plugin="a"} 2
volumes_total{plugin="b"} 3
`, text.String())
}
