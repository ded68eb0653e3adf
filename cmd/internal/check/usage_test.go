package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/sim"
)

func TestUsageAndLeftoversOfProgramsAreOneSentenceEach(t *testing.T) {
	var u check.Usage
	small := sim.Usage{Plugin: "driver d on node-a", Memory: 40 << 20}
	u.Add([]sim.Usage{small})
	assert.Empty(t, u.Lines(), "nothing is worth knowing")
	u.Add([]sim.Usage{{Plugin: "driver d on node-b", Memory: 700 << 20}, small})
	u.Add([]sim.Usage{{Plugin: "driver d", Left: []string{"sleep 100", "sleep 200"}}, {Plugin: "driver d on node-a", Left: []string{"sleep 300"}}})
	assert.Equal(t, []string{
		"the program of driver d on node-b had 700 MiB of memory in a run",
		"in 1 run a program left processes running when it ended, such as sleep 100 of driver d: csisim ended them",
	}, u.Lines())
}
