package load

import (
	"fmt"
	"time"

	"github.com/aclements/go-moremath/stats"

	"github.com/csisim/csisim/internal/world/plural"
)

// The smallest growth that is reported, the smallest lower bound of that growth, and the smallest
// resulting cost of a call, in milliseconds. A driver that reads the mount table once in each call
// also grows, but costs less. The time of concurrent calls grows because they wait for each other;
// the cost of sequential calls grows because they do not overlap. Both must have grown.
const (
	notableGrowth = 1.5
	surelyGrowth  = 1.25
	notableCost   = 10
	// Ratios of a call's cost and time at the largest level to those at the smallest, without the
	// waits for a processor. If the driver's own work grows by this ratio, the driver is reported
	// in any case.
	notableRatio = 4
)

func growths(r *Result) (all []Finding) {
	first, last := r.Compared()
	for _, method := range r.Growing() {
		g, _ := r.GrowthOf(method)
		all = append(all, Finding{Name: "grows/" + method, Text: fmt.Sprintf("%s grows %s: %s at %s, %s at %s; its total time has the exponent %v%s",
			method, degree(g), Millis(first.Of(method).P50), plural.Of(first.Volumes, "volume"), Millis(last.Of(method).P50), count(last.Volumes), g, r.opens(method))})
	}
	return all
}

// Compared returns the smallest and the largest level that count.
func (r *Result) Compared() (first, last Level) {
	levels := r.counted()
	return levels[0], levels[len(levels)-1]
}

// Growing returns the kinds of calls that take longer the more volumes exist.
func (r *Result) Growing() (methods []string) {
	if r.Largest() == nil {
		return nil
	}
	first, last := r.Compared()
	if first.Volumes < leastLevel {
		return nil
	}
	for _, method := range r.Methods() {
		g, known := r.GrowthOf(method)
		few, many := first.Of(method), last.Of(method)
		if !known || !Changes(method) || g.Exponent < notableGrowth || g.Low < surelyGrowth || many.Cost < notableCost || many.Cost < notableRatio*few.Cost || last.late(method) < notableRatio*first.late(method) {
			continue
		}
		if !last.works(first) && (many.Cost < notableCost*last.stretch() || many.Cost/last.stretch() < notableRatio*few.Cost/first.stretch()) {
			continue // other programs of the machine explain it
		}
		methods = append(methods, method)
	}
	return methods
}

// The minimum number of times that a call opens a file that is named, and the minimum ratio of that
// number to the number at the smallest level.
const (
	notableOpens      = 10
	notableOpensRatio = 2
)

// opens names the file that a call opens most often, if the number of opens grows with the number
// of volumes; otherwise it is empty.
func (r *Result) opens(method string) string {
	first, last := r.Compared()
	few, many := r.opened(method, first.Volumes), r.opened(method, last.Volumes)
	most := ""
	for name, times := range many {
		if times >= notableOpens && times >= notableOpensRatio*few[name] && (times > many[most] || times == many[most] && name < most) {
			most = name
		}
	}
	if most == "" {
		return ""
	}
	return fmt.Sprintf("; one call opens %s %s at %s, and %s at %s", most, plural.Of(few[most], "time"), plural.Of(first.Volumes, "volume"), plural.Of(many[most], "time"), count(last.Volumes))
}

func (r *Result) opened(method string, volumes int) map[string]int {
	for _, o := range r.Opened {
		if o.Call == method && o.Volumes == volumes {
			return o.Files
		}
	}
	return nil
}

// works reports whether the driver needs much more processor time for each volume than at another
// level. Other programs of the machine do not change that time.
func (l Level) works(than Level) bool {
	before := than.perVolume()
	return before > 0 && l.perVolume() >= notableRatio*before
}

// perVolume returns the processor time of the driver for each volume, in microseconds.
func (l Level) perVolume() (sum float64) {
	for _, run := range l.Runs {
		for _, phase := range run.Phases {
			sum += float64(phase.CPU)
		}
	}
	return sum / float64(max(1, l.Volumes*len(l.Runs)))
}

// stretch returns the ratio of the time that the driver's threads needed, including waits for a
// processor, to their running time. It is 1 if this is unknown.
func (l Level) stretch() float64 {
	var ran, delayed int64
	for _, run := range l.Runs {
		for _, phase := range run.Phases {
			ran, delayed = ran+phase.Ran, delayed+phase.Delayed
		}
	}
	if ran == 0 {
		return 1
	}
	return 1 + float64(delayed)/float64(ran)
}

// late returns the time of the faster calls in the later half of each run, in milliseconds. By then
// the volumes exist, and hardly any other program delayed these calls.
func (l Level) late(method string) float64 {
	var all []float64
	for _, run := range l.Runs {
		if c := run.Calls[method]; c != nil {
			order := c.inOrder()
			for _, i := range order[len(order)/2:] {
				all = append(all, float64(c.Took[i])/1e3)
			}
		}
	}
	return stats.Sample{Xs: all}.Quantile(0.25)
}

// degree describes the growth of the time for all calls.
func degree(g Growth) string {
	if g.Exponent >= 1.75 && g.Exponent < 2.4 {
		return "with the square of the volumes"
	}
	return "faster than the volumes"
}

// slowStart is the least time of a start that is reported.
const slowStart = time.Second

func slowStarts(r *Result) []Finding {
	g, known := r.GrowthOfStarts()
	levels := r.counted()
	first, last := start(levels[0]), start(levels[len(levels)-1])
	if !known || g.Exponent < 0.4 || last < slowStart || last < 3*first {
		return nil
	}
	return []Finding{{Name: "starts", Text: fmt.Sprintf("the driver starts slower with more volumes: %s at %s, %s at %s", inMillis(first), plural.Of(levels[0].Volumes, "volume"), inMillis(last), count(levels[len(levels)-1].Volumes))}}
}

func inMillis(d time.Duration) string { return Millis(float64(d.Microseconds()) / 1e3) }

// start returns the median of the longest starts of a level.
func start(l Level) time.Duration {
	var times []float64
	for _, run := range l.Runs {
		if len(run.Starts) > 0 {
			times = append(times, float64(longest(run.Starts)))
		}
	}
	return time.Duration(Median(times)) * time.Microsecond
}
