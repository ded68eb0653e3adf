package load

import (
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Growth is the exponent by which a time grows with the number of volumes: 1 means in proportion,
// and 2 with its square. Low and High bound it with a confidence of 95 %.
type Growth struct {
	Exponent float64 `json:"exponent"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

func (g Growth) String() string { return fmt.Sprintf("%.2f (%.2f to %.2f)", g.Exponent, g.Low, g.High) }

// leastLevel is the smallest level that counts, if there are two larger ones. Below it the first
// calls of a program dominate.
const leastLevel = 10

// GrowthOf returns the growth of the time for which a driver works on calls of one kind, by the
// number of volumes. It is unknown for calls that are not made for each volume, or if there is only
// one level.
func (r *Result) GrowthOf(method string) (Growth, bool) {
	var xs, ys []float64
	for _, l := range r.counted() {
		for _, run := range l.Runs {
			c := run.Calls[method]
			if c == nil || 2*len(c.Took) < l.Volumes || c.busy() == 0 {
				continue
			}
			// A burst makes several calls for a volume, for example after a restart.
			xs, ys = append(xs, float64(l.Volumes)), append(ys, c.busy()*float64(l.Volumes)/float64(len(c.Took)))
		}
	}
	return fit(xs, ys)
}

// GrowthOfStarts returns how the driver's start time grows with the number of volumes.
func (r *Result) GrowthOfStarts() (Growth, bool) {
	var xs, ys []float64
	for _, l := range r.counted() {
		for _, run := range l.Runs {
			if len(run.Starts) > 0 {
				xs, ys = append(xs, float64(l.Volumes)), append(ys, float64(longest(run.Starts)))
			}
		}
	}
	return fit(xs, ys)
}

func longest(times []int64) (most int64) {
	for _, t := range times {
		most = max(most, t)
	}
	return most
}

// counted returns the levels that count.
func (r *Result) counted() []Level {
	for i, l := range r.Levels {
		if l.Volumes >= leastLevel && len(r.Levels)-i >= 2 {
			return r.Levels[i:]
		}
	}
	return r.Levels
}

// fit fits y = c x^e, and returns e. It needs two different x.
func fit(xs, ys []float64) (Growth, bool) {
	n := float64(len(xs))
	var lx, ly []float64
	for i := range xs {
		lx, ly = append(lx, math.Log(xs[i])), append(ly, math.Log(ys[i]))
	}
	mx, my := stats.Mean(lx), stats.Mean(ly)
	var sxx, sxy float64
	for i := range lx {
		sxx += (lx[i] - mx) * (lx[i] - mx)
		sxy += (lx[i] - mx) * (ly[i] - my)
	}
	if len(xs) < 2 || sxx == 0 {
		return Growth{}, false
	}
	g := Growth{Exponent: sxy / sxx}
	if n < 3 {
		g.Low, g.High = math.Inf(-1), math.Inf(1)
		return g, true
	}
	var rest float64
	for i := range lx {
		d := ly[i] - my - g.Exponent*(lx[i]-mx)
		rest += d * d
	}
	margin := stats.InvCDF(stats.TDist{V: n - 2})(0.975) * math.Sqrt(rest/(n-2)/sxx)
	g.Low, g.High = g.Exponent-margin, g.Exponent+margin
	return g, true
}
