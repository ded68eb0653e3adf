package load

import (
	"maps"
	"slices"

	"github.com/aclements/go-moremath/stats"
)

// Summary describes the calls of one kind at one level, over all its runs.
type Summary struct {
	Method  string `json:"method"`
	Volumes int    `json:"volumes"`
	Count   int    `json:"count"`
	// Errors are the failed calls, by code.
	Errors map[string]int `json:"errors,omitempty"`
	// P50, P90, P99 and Max are the times of calls in milliseconds.
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
	// Busy is the time during which at least one call was in progress, in seconds; Cost is that
	// time per call, in milliseconds.
	Busy float64 `json:"busy"`
	Cost float64 `json:"cost"`
	// Throughput is the number of calls per second of Busy, and InFlight the highest number at
	// once.
	Throughput float64 `json:"throughput"`
	InFlight   int     `json:"inFlight"`
}

// Methods returns the names of all calls, in the order of a volume's life, and other calls by name.
func (r *Result) Methods() []string {
	all := map[string]bool{}
	for _, l := range r.Levels {
		for _, run := range l.Runs {
			for method := range run.Calls {
				all[method] = true
			}
		}
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		if order := place(a) - place(b); order != 0 {
			return order
		}
		return slices.Compare([]string{a}, []string{b})
	})
}

// Kinds are the calls that are made for each volume, in the order of its life.
var Kinds = []string{
	"CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume", "NodeGetVolumeStats",
	"ControllerExpandVolume", "NodeExpandVolume", "CreateSnapshot", "DeleteSnapshot",
	"NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume", "DeleteVolume",
}

func place(method string) int {
	if i := slices.Index(Kinds, method); i >= 0 {
		return i
	}
	return len(Kinds)
}

// Changes reports whether a call is made for each volume, rather than about the driver.
func Changes(method string) bool { return place(method) < len(Kinds) }

// Of summarizes the calls of one kind at a level; its Count is 0 if there are none.
func (l Level) Of(method string) Summary {
	s := Summary{Method: method, Volumes: l.Volumes, Errors: map[string]int{}}
	for _, run := range l.Runs {
		c := run.Calls[method]
		if c == nil {
			continue
		}
		for _, code := range c.Failed {
			s.Errors[code]++
		}
		s.Busy += c.busy()
		s.InFlight = max(s.InFlight, c.inFlight())
	}
	took := l.Times(method)
	s.Count = len(took)
	if s.Count == 0 {
		return s
	}
	sample := stats.Sample{Xs: took, Sorted: true}
	s.P50, s.P90, s.P99, s.Max = sample.Quantile(0.5), sample.Quantile(0.9), sample.Quantile(0.99), took[len(took)-1]
	s.Cost = s.Busy * 1e3 / float64(s.Count)
	if s.Busy > 0 {
		s.Throughput = float64(s.Count) / s.Busy
	}
	return s
}

// Times returns the times of all calls of one kind, over all runs, in milliseconds and sorted.
func (l Level) Times(method string) (all []float64) {
	for _, run := range l.Runs {
		if c := run.Calls[method]; c != nil {
			all = append(all, c.times()...)
		}
	}
	slices.Sort(all)
	return all
}

// times are in milliseconds.
func (c *Calls) times() (all []float64) {
	for _, t := range c.Took {
		all = append(all, float64(t)/1e3)
	}
	return all
}

// busy returns the time in which at least one call was in progress, in seconds.
func (c *Calls) busy() float64 {
	var sum, until int64
	for _, i := range c.inOrder() {
		begin, end := max(c.Began[i], until), c.Began[i]+c.Took[i]
		if end > begin {
			sum += end - begin
		}
		until = max(until, end)
	}
	return float64(sum) / 1e6
}

func (c *Calls) inOrder() []int {
	order := make([]int, len(c.Began))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(c.Began[a] - c.Began[b]) })
	return order
}

// edge is the beginning or the end of a call.
type edge struct {
	at   int64
	open int // change in the number of calls under way
}

// edges returns the starts and ends of all calls in the order of time. At equal times the ends come
// first.
func (c *Calls) edges() []edge {
	var all []edge
	for i, began := range c.Began {
		all = append(all, edge{began, 1}, edge{began + c.Took[i], -1})
	}
	slices.SortFunc(all, edge.compare)
	return all
}

func (e edge) compare(other edge) int {
	if e.at != other.at {
		return int(e.at - other.at)
	}
	return e.open - other.open
}

// Step is the number of calls in progress from a time on, in microseconds of cluster time.
type Step struct {
	At   int64
	Open int
}

// InFlight returns the number of calls in progress over time.
func (c *Calls) InFlight() (steps []Step) {
	open := 0
	for _, e := range c.edges() {
		open += e.open
		steps = append(steps, Step{e.at, open})
	}
	return steps
}

func (c *Calls) inFlight() (most int) {
	open := 0
	for _, e := range c.edges() {
		open += e.open
		most = max(most, open)
	}
	return most
}

// crowded returns how long, in seconds, at least some number of calls were in progress at once, and
// how many calls ended in that time.
func (c *Calls) crowded(least int) (seconds float64, ended int) {
	open, since := 0, int64(0)
	for _, e := range c.edges() {
		if open >= least {
			seconds += float64(e.at-since) / 1e6
			if e.open < 0 {
				ended++
			}
		}
		open, since = open+e.open, e.at
	}
	return seconds, ended
}

// Median returns the middle value of some numbers; 0 if there are none.
func Median(numbers []float64) float64 {
	return stats.Sample{Xs: slices.Clone(numbers)}.Quantile(0.5)
}

// Took returns the times of a phase in seconds, by run.
func (l Level) Took(phase string) (seconds []float64) {
	for _, run := range l.Runs {
		for _, p := range run.Phases {
			if p.Name == phase {
				seconds = append(seconds, float64(p.Took)/1e6)
			}
		}
	}
	return seconds
}

// Phases returns the names of the phases, in their order.
func (l Level) Phases() (names []string) {
	for _, run := range l.Runs {
		for _, p := range run.Phases {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

// OverTime returns the median times of calls of one kind in the last run, in milliseconds. It
// divides the time from the first to the last call into equal parts. A part without a call has 0.
func (l Level) OverTime(method string, parts int) []float64 {
	medians := make([]float64, parts)
	if len(l.Runs) == 0 {
		return medians
	}
	c := l.Runs[len(l.Runs)-1].Calls[method]
	if c == nil || len(c.Began) == 0 {
		return medians
	}
	first, last := slices.Min(c.Began), slices.Max(c.Began)
	each := make([][]float64, parts)
	for i, began := range c.Began {
		part := int(int64(parts) * (began - first) / max(1, last-first+1))
		each[part] = append(each[part], float64(c.Took[i])/1e3)
	}
	for i, took := range each {
		if len(took) > 0 {
			medians[i] = Median(took)
		}
	}
	return medians
}

// StageSummary is the median of a stage, in milliseconds.
type StageSummary struct {
	Name         string
	Took, Driver float64
}

// Stages returns the medians of all stages, over all runs.
func (l Level) Stages() (all []StageSummary) {
	took, driver := map[string][]float64{}, map[string][]float64{}
	var names []string
	for _, run := range l.Runs {
		for _, s := range run.Stages {
			if took[s.Name] == nil {
				names = append(names, s.Name)
			}
			for i := range s.Took {
				took[s.Name] = append(took[s.Name], float64(s.Took[i])/1e3)
				driver[s.Name] = append(driver[s.Name], float64(s.Driver[i])/1e3)
			}
		}
	}
	for _, name := range names {
		all = append(all, StageSummary{name, Median(took[name]), Median(driver[name])})
	}
	return all
}

// Use returns the use of all programs of the driver at a point of the last run.
func (l Level) Use(at string) Use {
	if len(l.Runs) > 0 {
		for _, s := range l.Runs[len(l.Runs)-1].Samples {
			if s.At == at {
				return s.Total()
			}
		}
	}
	return Use{}
}

// Medians returns the median times of calls of one kind for each run, in milliseconds.
func (l Level) Medians(method string) (all []float64) {
	for _, run := range l.Runs {
		c := run.Calls[method]
		if c == nil || len(c.Took) == 0 {
			continue
		}
		all = append(all, Median(c.times()))
	}
	return all
}
