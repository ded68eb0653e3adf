package check

import "github.com/csisim/csisim/internal/judge/verdict"

// IsOfDriverAlone reports whether only the driver is to blame: its answers break the CSI spec, its
// program exits, or it leaves objects behind although it answered that they were removed.
func (f *Finding) IsOfDriverAlone() bool {
	return f.Blame() == verdict.Driver && (f.rank <= verdict.NoEffect || f.rank == verdict.Leaks)
}
