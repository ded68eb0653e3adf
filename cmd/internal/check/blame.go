package check

import "github.com/csisim/csisim/internal/judge/verdict"

// IsOfDriverAlone reports whether the driver is to blame whatever others do: its answers break the CSI spec, its program ends, or it
// leaves what it answered to have taken away.
func (f *Finding) IsOfDriverAlone() bool {
	return f.Blame() == verdict.Driver && (f.rank <= verdict.NoEffect || f.rank == verdict.Leaks)
}
