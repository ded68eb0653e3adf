package kind

import (
	"strings"
	"sync"

	"github.com/csisim/csisim/sim"
)

// turn belongs to the test that uses the cluster.
var turn = struct {
	sync.Mutex
	over   *sync.Cond
	holder string
}{}

func init() { turn.over = sync.NewCond(&turn.Mutex) }

// take waits until a test may use the cluster, and returns the function that releases it to the
// next test.
func take(test string) (done func(), err error) {
	turn.Lock()
	defer turn.Unlock()
	for turn.holder != "" {
		if test == turn.holder || strings.HasPrefix(test, turn.holder+"/") {
			return nil, &sim.NotPromotedError{What: "a second cluster of " + turn.holder, Why: "a test on a real cluster has one"}
		}
		turn.over.Wait()
	}
	turn.holder = test
	return func() {
		turn.Lock()
		defer turn.Unlock()
		turn.holder = ""
		turn.over.Broadcast()
	}, nil
}
