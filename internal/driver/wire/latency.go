package wire

import (
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"
	"time"
)

// Latency is the time that a service behind the driver takes for a call.
type Latency struct {
	Mean time.Duration
	// Spread is the largest deviation from the mean, as a share of the mean from 0 to 1.
	Spread float64
}

// ParseLatency reads "2s" or "2s±20%".
func ParseLatency(text string) (Latency, error) {
	mean, spread, given := strings.Cut(text, "±")
	var l Latency
	var err error
	if l.Mean, err = time.ParseDuration(mean); err != nil || l.Mean <= 0 {
		return l, fmt.Errorf("%q is no duration above 0 such as 2s", mean)
	}
	if !given {
		return l, nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(spread, "%"), 64)
	if err != nil || !strings.HasSuffix(spread, "%") || percent < 0 || percent > 100 {
		return l, fmt.Errorf("%q is no percentage from 0%% to 100%%", spread)
	}
	l.Spread = percent / 100
	return l, nil
}

// of returns the latency of a call, which depends on the call's number.
func (l Latency) of(number uint64) time.Duration {
	h := fnv.New64a()
	fmt.Fprint(h, number)
	const steps = 10_000
	part := float64(h.Sum64()%(2*steps+1))/steps - 1 // from -1 to 1
	return l.Mean + time.Duration(part*l.Spread*float64(l.Mean))
}

func (c *call) latency() time.Duration {
	l, known := c.wire.Latencies[path.Base(c.method)]
	if !known {
		return 0
	}
	return l.of(c.event.Seq)
}
