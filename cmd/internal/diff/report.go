package diff

import (
	"cmp"
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Row is one line of the two traces side by side. An empty cell means that this trace has no event
// in the row.
type Row struct {
	A, B Cell
	Same bool
}

// Cell is the event of one trace at a point: its time in ms and its text.
type Cell struct {
	At   int64
	Text string
}

func cell(at int64, text string) Cell { return Cell{at, text} }

// sideBySide returns two aligned lists as rows. Rows with equal texts count as equal.
func sideBySide[T any](rows []pair, a, b []T, cellOf func(T) Cell) []Row {
	shown := make([]Row, len(rows))
	for i, row := range rows {
		if row.a >= 0 {
			shown[i].A = cellOf(a[row.a])
		}
		if row.b >= 0 {
			shown[i].B = cellOf(b[row.b])
		}
		shown[i].Same = row.a >= 0 && row.b >= 0 && shown[i].A.Text == shown[i].B.Text
	}
	return shown
}

// Difference is one point in which the traces differ.
type Difference struct {
	Level   Level
	Subject string // the volume, object, node or pod
	What    string
	// Rows are the lines around it, the difference itself at Index.
	Rows  []Row
	Index int
}

// At is the time of the difference in ms, in the trace with the earlier event.
func (d Difference) At() int64 {
	row := d.Rows[d.Index]
	switch {
	case row.A.Text == "":
		return row.B.At
	case row.B.Text == "":
		return row.A.At
	default:
		return min(row.A.At, row.B.At)
	}
}

// Report is the result of a comparison.
type Report struct {
	// Differences, the earliest first.
	Differences []Difference
	// Pairs are the calls in both traces. Each call is given by its index among all calls of its
	// trace, in the order of A.
	Pairs [][2]int
	// Compared is the number of comparisons, by level.
	Compared map[Level]int
	// Allowed is the number of uses of each tolerance.
	Allowed map[Tolerance]int
}

// Equal reports whether no level differs.
func (r *Report) Equal() bool { return len(r.Differences) == 0 }

// Of returns the differences of one level.
func (r *Report) Of(level Level) []Difference {
	return slices.DeleteFunc(slices.Clone(r.Differences), func(d Difference) bool { return d.Level != level })
}

// comparison is a report in progress.
type comparison struct {
	a, b   *side
	report *Report
}

// Compare compares two traces.
func Compare(a, b []trace.Line) *Report {
	mixed := numbered(a) != numbered(b)
	d := &comparison{a: newSide(a, mixed), b: newSide(b, mixed), report: &Report{Compared: map[Level]int{}, Allowed: map[Tolerance]int{}}}
	pairs := d.compareCalls()
	for _, calls := range pairs {
		for _, p := range calls {
			d.report.Pairs = append(d.report.Pairs, [2]int{p.a.number, p.b.number})
		}
	}
	d.comparePeriodic()
	d.compareRequests(pairs)
	d.compareStart()
	d.compareObjects()
	d.compareCauses()
	d.compareGaps(pairs)
	d.compareEvents()
	d.compareFiles()
	d.compareRuntime()
	d.close()
	return d.report
}

func (d *comparison) compared(l Level) { d.report.Compared[l]++ }

func (d *comparison) allow(t Tolerance) { d.report.Allowed[t]++ }

func (d *comparison) differ(level Level, subject, what string, rows []Row, index int) {
	d.report.Differences = append(d.report.Differences, Difference{level, subject, what, rows, index})
}

// close adds up the tolerances and sorts the differences.
func (d *comparison) close() {
	for _, s := range []*side{d.a, d.b} {
		for t, n := range s.allowed {
			d.report.Allowed[t] += n
		}
		if s.normalised > 0 {
			d.report.Allowed[Identities] += s.normalised
		}
	}
	slices.SortFunc(d.report.Pairs, func(x, y [2]int) int { return cmp.Or(cmp.Compare(x[0], y[0]), cmp.Compare(x[1], y[1])) })
	slices.SortStableFunc(d.report.Differences, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.At(), y.At()), cmp.Compare(slices.Index(Levels, x.Level), slices.Index(Levels, y.Level)))
	})
}

// union returns the keys of both maps in order.
func union[K comparable, V any](a, b map[K]V, order func(x, y K) int) []K {
	var keys []K
	for key := range a {
		keys = append(keys, key)
	}
	for key := range b {
		if _, both := a[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, order)
	return keys
}
