package load

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/view/index"
	"github.com/csisim/csisim/internal/world/plural"
)

var (
	//go:embed page.html.tmpl
	pageText string
	//go:embed page.css
	pageStyle string

	page = sync.OnceValue(func() *template.Template { return template.Must(template.New("load").Parse(pageText)) })
)

// section is a group of charts with a title.
type section struct {
	Title, Note string
	Legend      []legend
	Charts      []chart
}

type legend struct {
	Color int
	Name  string
}

// Page writes the report as one page without scripts. baseline is the result to which the report is
// compared; nil for none.
func (r *Report) Page(w io.Writer, baseline *load.Result) error {
	var sections []section
	if r.Largest() != nil {
		sections = []section{r.scaling(baseline), r.overTime(), r.distributions(baseline), r.progress(), r.atOnce(), r.use()}
	}
	sections = slices.DeleteFunc(sections, func(s section) bool { return len(s.Charts) == 0 })
	style := index.Style + pageStyle
	sum := sha256.Sum256([]byte(style))
	var text writer
	if err := r.Text(&text, report.Terminal{}); err != nil {
		return err
	}
	err := page().Execute(w, struct {
		*Report
		Sections []section
		Text     string
		Style    template.CSS
		Policy   template.HTMLAttr
	}{r, sections, string(text), template.CSS(style), template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'"`, base64.StdEncoding.EncodeToString(sum[:])))})
	if err != nil {
		return fmt.Errorf("write the page of a load: %w", err)
	}
	return nil
}

type writer []byte

func (w *writer) Write(p []byte) (int, error) {
	*w = append(*w, p...)
	return len(p), nil
}

// Course is the plan in a line.
func (r *Report) Course() string {
	return fmt.Sprintf("%s of %s volumes on %s, %s each, %s clock · %s, %s", r.Plan.Shape, levels(r.Plan.Volumes), plural.Of(r.Plan.Nodes, "node"), plural.Of(r.Plan.Runs, "run"), r.Plan.Clock,
		r.Machine.Processor, plural.Of(r.Machine.Cores, "processor"))
}

// methods are the calls that are made for each volume.
func (r *Report) methods() (all []string) {
	for _, method := range r.Methods() {
		if load.Changes(method) && r.Largest().Of(method).Count > 0 {
			all = append(all, method)
		}
	}
	return all
}

func number(n float64) string { return fmt.Sprintf("%.0f", n) }

// scaling shows the median time of each call against the number of volumes.
func (r *Report) scaling(baseline *load.Result) section {
	s := section{Title: "Scaling", Note: "Median time of a call against the number of volumes, and the time until all pods run and all volumes are gone. Both axes are logarithmic."}
	s.Legend = builds(baseline)
	for _, phase := range []string{"up", "down"} {
		c := chart{Title: phaseTitle(phase), X: number, Y: load.Millis, LogX: true, LogY: true}
		add := func(of *load.Result, color int) {
			line := series{Color: color}
			for _, l := range of.Levels {
				if took := l.Took(phase); len(took) > 0 {
					ms := load.Median(took) * 1e3
					line.Points, line.Labels = append(line.Points, point{float64(l.Volumes), ms}), append(line.Labels, fmt.Sprintf("%d volumes: %s", l.Volumes, load.Millis(ms)))
				}
			}
			c.Series = append(c.Series, line)
		}
		eachBuild(r.Result, baseline, add)
		s.Charts = append(s.Charts, c)
	}
	for _, method := range r.methods() {
		c := chart{Title: method, X: number, Y: load.Millis, LogX: true, LogY: true}
		if g, known := r.GrowthOf(method); known {
			c.Title += fmt.Sprintf(" · growth %.1f", g.Exponent)
		}
		eachBuild(r.Result, baseline, func(of *load.Result, color int) {
			line := series{Color: color}
			for _, l := range of.Levels {
				if sum := l.Of(method); sum.Count > 0 {
					line.Points = append(line.Points, point{float64(l.Volumes), sum.P50})
					line.Labels = append(line.Labels, fmt.Sprintf("%d volumes: %s, p99 %s", l.Volumes, load.Millis(sum.P50), load.Millis(sum.P99)))
				}
			}
			c.Series = append(c.Series, line)
		})
		s.Charts = append(s.Charts, c)
	}
	return s
}

func builds(baseline *load.Result) []legend {
	if baseline == nil {
		return nil
	}
	return []legend{{1, "baseline"}, {0, "this build"}}
}

// eachBuild calls add for the baseline, and then for the result.
func eachBuild(result, baseline *load.Result, add func(*load.Result, int)) {
	if baseline != nil {
		add(baseline, 1)
	}
	add(result, 0)
}

// mostDots bounds the points of a chart.
const mostDots = 1500

// overTime shows each call of the last run at the largest level.
func (r *Report) overTime() section {
	largest := r.Largest()
	s := section{Title: "Calls over time", Note: fmt.Sprintf("Each call of the last run with %s, at the cluster time at which it began. Failed calls are red.", plural.Of(largest.Volumes, "volume"))}
	run := largest.Runs[len(largest.Runs)-1]
	for _, method := range r.methods() {
		c := run.Calls[method]
		if c == nil {
			continue
		}
		good, bad := series{Dots: true}, series{Dots: true, Color: 3}
		step := max(1, len(c.Began)/mostDots)
		for i := range c.Began {
			p := point{float64(c.Began[i]-run.Phases[0].Began) / 1e3, float64(c.Took[i]) / 1e3}
			if c.Failed[i] != "" {
				bad.Points = append(bad.Points, p)
			} else if i%step == 0 {
				good.Points = append(good.Points, p)
			}
		}
		s.Charts = append(s.Charts, chart{Title: method, X: load.Millis, Y: load.Millis, Series: []series{good, bad}})
	}
	return s
}

// distributions shows the share of calls that took at most a given time.
func (r *Report) distributions(baseline *load.Result) section {
	s := section{Title: "Distribution", Note: "Share of the calls at the largest level that took at most this long. The axis of time is logarithmic.", Legend: builds(baseline)}
	percent := func(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }
	for _, method := range r.methods() {
		c := chart{Title: method, X: load.Millis, Y: percent, LogX: true}
		eachBuild(r.Result, baseline, func(of *load.Result, color int) {
			if largest := of.Largest(); largest != nil {
				c.Series = append(c.Series, series{Color: color, Points: cumulative(largest.Times(method))})
			}
		})
		s.Charts = append(s.Charts, c)
	}
	return s
}

func cumulative(times []float64) (points []point) {
	const most = 200
	for i := range min(most, len(times)) {
		at := i * len(times) / min(most, len(times))
		points = append(points, point{max(times[at], 1e-3), float64(at+1) / float64(len(times))})
	}
	return points
}

// progress shows how many volumes have reached each stage.
func (r *Report) progress() section {
	largest := r.Largest()
	run := largest.Runs[len(largest.Runs)-1]
	s := section{Title: "Stages of the pods", Note: "How many volumes have reached each stage, in the last run at the largest level. A wide band is a stage that takes long."}
	names := map[string][]string{"up": {"bound", "attached", "staged", "published", "running"}, "down": {"unpublished", "unstaged", "detached", "gone"}}
	for _, phase := range []string{"up", "down"} {
		c := chart{Title: phaseTitle(phase), X: load.Millis, Y: number}
		var began float64
		for _, p := range run.Phases {
			if p.Name == phase {
				began = float64(p.Began) / 1e3
			}
		}
		for _, stage := range run.Stages {
			color := slices.Index(names[phase], stage.Name)
			if color < 0 {
				continue
			}
			ended := slices.Sorted(slices.Values(stage.Ended))
			line := series{Name: stage.Name, Color: color, Filled: true, Points: []point{{0, 0}}}
			for i, at := range ended {
				line.Points = append(line.Points, point{max(0, float64(at)/1e3-began), float64(i + 1)})
			}
			c.Series = append(c.Series, line)
			s.Legend = append(s.Legend, legend{color, stage.Name})
		}
		if len(c.Series) > 0 {
			s.Charts = append(s.Charts, c)
		}
	}
	return s
}

// atOnce shows the number of calls of each kind in progress.
func (r *Report) atOnce() section {
	largest := r.Largest()
	run := largest.Runs[len(largest.Runs)-1]
	s := section{Title: "Calls in flight", Note: "How many calls were under way at once, in the last run at the largest level."}
	for _, method := range r.methods() {
		c := run.Calls[method]
		if c == nil {
			continue
		}
		line := series{Filled: true}
		for _, step := range c.InFlight() {
			line.Points = append(line.Points, point{float64(step.At-run.Phases[0].Began) / 1e3, float64(step.Open)})
		}
		if step := len(line.Points) / mostDots; step > 1 {
			var fewer []point
			for i := 0; i < len(line.Points); i += step {
				fewer = append(fewer, line.Points[i])
			}
			line.Points = fewer
		}
		s.Charts = append(s.Charts, chart{Title: method, X: load.Millis, Y: number, Series: []series{line}})
	}
	return s
}

// use shows the resources of the driver's programs over the runs of the largest level.
func (r *Report) use() section {
	s := section{Title: "The driver's programs", Note: "The use of all plugins together: before, with all volumes, and after, in each run at the largest level. A line that rises from run to run is a leak."}
	mebibytes := func(n float64) string { return load.Bytes(n) }
	for _, resource := range []struct {
		name string
		of   func(load.Use) int64
		unit func(float64) string
	}{
		{"memory", func(u load.Use) int64 { return u.Memory }, mebibytes},
		{"file descriptors", func(u load.Use) int64 { return u.Descriptors }, number},
		{"threads", func(u load.Use) int64 { return u.Threads }, number},
		{"child processes", func(u load.Use) int64 { return u.Children }, number},
		{"mounts", func(u load.Use) int64 { return u.Mounts }, number},
		{"goroutines", func(u load.Use) int64 { return u.Goroutines }, number},
	} {
		var line series
		most := int64(0)
		for i, run := range r.Largest().Runs {
			for j, sample := range run.Samples {
				value := resource.of(sample.Total())
				most = max(most, value)
				line.Points = append(line.Points, point{float64(i) + float64(j)/float64(len(run.Samples)), float64(value)})
				line.Labels = append(line.Labels, fmt.Sprintf("run %d, %s: %s", i+1, sample.At, resource.unit(float64(value))))
			}
		}
		if most > 0 {
			s.Charts = append(s.Charts, chart{Title: resource.name, X: func(x float64) string { return fmt.Sprintf("run %d", int(x)+1) }, Y: resource.unit, Series: []series{line}})
		}
	}
	return s
}
