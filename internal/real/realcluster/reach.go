package realcluster

import (
	"context"
	"fmt"
	"time"

	"github.com/csisim/csisim/sim"
)

const (
	// askEvery is the interval of checks that the API answers, askTime the timeout of one.
	askEvery, askTime = 2 * time.Second, 5 * time.Second
	// longestSilence bounds the time for which the API may be unreachable before the run ends.
	longestSilence = 30 * time.Second
)

// attend ends the run when the cluster's API stays unreachable, because nothing can be observed
// without it.
func (c *Cluster) attend(every, silence time.Duration) {
	answered := time.Now()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(every):
		}
		ctx, cancel := context.WithTimeout(c.ctx, askTime)
		_, err := c.clients.Discovery().RESTClient().Get().AbsPath("/version").DoRaw(ctx)
		cancel()
		switch {
		case err == nil:
			answered = time.Now()
		case time.Since(answered) > silence:
			c.end(&sim.EnvironmentError{Doing: "reach the cluster's API", Err: fmt.Errorf("it has not answered for %v: %w", silence, err)})
			return
		}
	}
}
