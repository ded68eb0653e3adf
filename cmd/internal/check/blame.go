package check

import "github.com/csisim/csisim/internal/invariant"

// Blame says whose doing it is, as far as one run shows.
func (f *Finding) Blame() invariant.Blame {
	if broken := invariant.Of(f.Verdict); broken != nil {
		return broken.Blame
	}
	return invariant.Scenario
}

// IsOfDriverAlone reports whether the driver is to blame whatever others do: its answers break the CSI spec, its program ends, or it
// leaves what it answered to have taken away.
func (f *Finding) IsOfDriverAlone() bool {
	return f.Blame() == invariant.Driver && (f.rank <= invariant.NoEffect || f.rank == invariant.Leaks)
}
