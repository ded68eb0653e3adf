package effect

import (
	"sync"

	"github.com/csisim/csisim/drivers/fault"
)

// Called holds the properties of a call that determine its possible faults in a search.
type Called struct {
	// OnNode is set for calls to plugins on nodes. Default: to a controller plugin.
	OnNode bool
	// Watched is set if the plugin is a program with traced system calls. Default: it is Go code of
	// this process, or not started by csisim.
	Watched bool
	// Unmounts is set if the call unmounts.
	Unmounts bool
	// Versioned is set if the plugin is a program with other releases.
	Versioned bool
	// Served is set if the plugin makes HTTP requests to a stand-in that reports them.
	Served bool
}

// AtCall returns the possible faults of a call in a space, each with a unique name. Their order
// depends only on the kinds. Spaces share them: copy a fault before you change or inject it.
func AtCall(s fault.Space, c Called) []*fault.Fault {
	if s.Budget == 0 {
		return nil
	}
	var found []*fault.Fault
	for _, kind := range s.Kinds {
		found = append(found, atCalls()[c][kind]...)
	}
	return found
}

// atCalls returns the faults of each kind, by call. They are created once, because each run of a
// search needs them.
var atCalls = sync.OnceValue(func() map[Called]map[fault.Kind][]*fault.Fault {
	all := map[Called]map[fault.Kind][]*fault.Fault{}
	for _, c := range []Called{{}, {OnNode: true}, {OnNode: true, Unmounts: true}} {
		for _, watched := range []bool{false, true} {
			for _, served := range []bool{false, true} {
				for _, versioned := range []bool{false, true} {
					c.Watched, c.Served, c.Versioned = watched, served, versioned
					all[c] = allAtCall(c)
				}
			}
		}
	}
	return all
})

func allAtCall(c Called) map[fault.Kind][]*fault.Fault {
	found := map[fault.Kind][]*fault.Fault{}
	for _, kind := range fault.Kinds() {
		for _, e := range all {
			if e.InSearches == nil {
				continue
			}
			for _, f := range e.InSearches(kind, c) {
				f.Message = "injected: " + f.Name
				found[kind] = append(found[kind], &f)
			}
		}
	}
	return found
}
