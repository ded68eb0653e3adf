package load

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// chart is a small diagram as SVG. It has the colours of the page.
type chart struct {
	Title string
	// X and Y format the values of the axes.
	X, Y       func(float64) string
	LogX, LogY bool
	Series     []series
}

// series is one line of a chart, or one cloud of points.
type series struct {
	Name   string
	Color  int // of the page's colours
	Dots   bool
	Filled bool
	Points []point
	Labels []string // of the points; empty for none
}

type point struct{ x, y float64 }

// The size of a chart and of its margins.
const (
	wide, high               = 340.0, 190.0
	left, right, top, bottom = 56.0, 12.0, 10.0, 26.0
)

// axis maps values to places between two ends.
type axis struct {
	low, high float64
	log       bool
	from, to  float64
}

func newAxis(values []float64, log bool, from, to float64) axis {
	a := axis{low: math.Inf(1), high: math.Inf(-1), log: log, from: from, to: to}
	for _, v := range values {
		if !log || v > 0 {
			a.low, a.high = min(a.low, v), max(a.high, v)
		}
	}
	switch {
	case math.IsInf(a.low, 0):
		a.low, a.high = 0, 1
		a.log = false
	case !log:
		a.low = min(0, a.low)
	}
	if a.low == a.high {
		a.high = a.low + 1
	}
	return a
}

func (a axis) at(v float64) float64 {
	if a.log {
		return a.from + (math.Log(max(v, a.low))-math.Log(a.low))/(math.Log(a.high)-math.Log(a.low))*(a.to-a.from)
	}
	return a.from + (v-a.low)/(a.high-a.low)*(a.to-a.from)
}

// marks are the values with a label.
func (a axis) marks() []float64 {
	if a.log {
		return []float64{a.low, math.Sqrt(a.low * a.high), a.high}
	}
	return []float64{a.low, (a.low + a.high) / 2, a.high}
}

// SVG draws the chart.
func (c chart) SVG() template.HTML {
	var xs, ys []float64
	for _, s := range c.Series {
		for _, p := range s.Points {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
	}
	x, y := newAxis(xs, c.LogX, left, wide-right), newAxis(ys, c.LogY, high-bottom, top)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, wide, high, html.EscapeString(c.Title))
	for _, v := range y.marks() {
		at := y.at(v)
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text class="mark" text-anchor="end" x="%g" y="%.1f">%s</text>`, left, wide-right, at, at, left-5, at+4, html.EscapeString(c.Y(v)))
	}
	for i, v := range x.marks() {
		anchor := []string{"start", "middle", "end"}[i]
		fmt.Fprintf(&b, `<text class="mark" text-anchor="%s" x="%.1f" y="%g">%s</text>`, anchor, x.at(v), high-8, html.EscapeString(c.X(v)))
	}
	for _, s := range c.Series {
		s.draw(&b, x, y)
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // all texts in the chart are escaped
}

func (s series) draw(b *strings.Builder, x, y axis) {
	if s.Dots {
		for _, p := range s.Points {
			fmt.Fprintf(b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="1.6"/>`, s.Color, x.at(p.x), y.at(p.y))
		}
		return
	}
	var path strings.Builder
	for i, p := range s.Points {
		fmt.Fprintf(&path, "%s%.1f %.1f", []string{"M", "L"}[min(i, 1)], x.at(p.x), y.at(p.y))
	}
	if len(s.Points) == 0 {
		return
	}
	if s.Filled {
		fmt.Fprintf(b, `<path class="f%d" d="%sL%.1f %.1fL%.1f %.1fZ"/>`, s.Color, path.String(), x.at(s.Points[len(s.Points)-1].x), y.from, x.at(s.Points[0].x), y.from)
	}
	fmt.Fprintf(b, `<path class="l%d" d="%s"/>`, s.Color, path.String())
	for i, label := range s.Labels {
		p := s.Points[i]
		fmt.Fprintf(b, `<circle class="c%d" cx="%.1f" cy="%.1f" r="2.6"><title>%s</title></circle>`, s.Color, x.at(p.x), y.at(p.y), html.EscapeString(label))
	}
}
