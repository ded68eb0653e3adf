package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseLatency(t *testing.T) {
	for text, want := range map[string]Latency{
		"2s":       {2 * time.Second, 0},
		"2s±20%":   {2 * time.Second, 0.2},
		"50ms±0%":  {50 * time.Millisecond, 0},
		"1m±12.5%": {time.Minute, 0.125},
	} {
		got, err := ParseLatency(text)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "2", "-1s", "0s", "2s±", "2s±20", "2s±200%", "2s±-1%"} {
		_, err := ParseLatency(text)
		assert.Error(t, err, text)
	}
}

func TestLatenciesSpreadAroundTheirMean(t *testing.T) {
	l := Latency{time.Second, 0.2}
	var sum time.Duration
	for number := range uint64(1000) {
		one := l.of(number)
		assert.Equal(t, one, l.of(number), "the number of the call decides")
		assert.GreaterOrEqual(t, one, 800*time.Millisecond)
		assert.LessOrEqual(t, one, 1200*time.Millisecond)
		sum += one
	}
	assert.InDelta(t, 1000, float64((sum / 1000).Milliseconds()), 20)
}
