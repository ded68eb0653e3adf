package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

// A driver's daemon may start other processes during a call. They belong to the daemon, not to the
// call.
func TestAProcessBelongsToTheCallOfItsParent(t *testing.T) {
	stage, publish := trace.Entry{Kind: trace.Call}.Event(), trace.Entry{Kind: trace.Call}.Event()
	s := ledger.NewOrigins()
	saw := func(ended *trace.Event, things ...ledger.Thing) { s.Saw("processes", "node-a", things, ended) }
	daemon, mounter := ledger.Thing{Key: "2", Parent: "1"}, ledger.Thing{Key: "3", Parent: "1"}
	saw(nil, daemon)
	saw(stage, daemon, mounter)
	saw(publish, ledger.Thing{Key: "7", Parent: "6"}, ledger.Thing{Key: "6", Parent: "2"}, daemon,
		mounter, ledger.Thing{Key: "8", Parent: "3"}, ledger.Thing{Key: "9", Parent: "1"})
	for key, want := range map[string]*trace.Event{"2": nil, "6": nil, "7": nil, "3": stage, "8": stage, "9": publish} {
		assert.Same(t, want, s.MadeIn("processes", key), key)
	}
	saw(publish, ledger.Thing{Key: "6", Parent: "1"}, ledger.Thing{Key: "8", Parent: "1"})
	assert.Nil(t, s.MadeIn("processes", "6"), "its parent has ended")
	assert.Same(t, stage, s.MadeIn("processes", "8"))
}
