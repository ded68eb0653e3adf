package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given a burst of volumes, when it is run by the virtual and by the real clock, then pods start
// and volumes disappear after about the same cluster time.
func TestTheVirtualClockAgreesWithTheRealOne(t *testing.T) {
	if !clitest.Nightly() {
		t.Skip("it takes five minutes of the real clock: make nightly-live")
	}
	_, virtual := loadOn(t, "", "--volumes", "100", "--runs", "1")
	_, real := loadOn(t, "", "--volumes", "100", "--runs", "1", "--clock", "real")
	for _, phase := range []string{"up", "down"} {
		v, r := virtual.Levels[0].Took(phase)[0], real.Levels[0].Took(phase)[0]
		assert.InEpsilon(t, r, v, 0.25, "%s: %.1f s by the virtual clock, %.1f s by the real one", phase, v, r)
	}
}
