package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
)

// progress shows the progress of a check. On a terminal it rewrites one line; otherwise it prints a
// line from time to time.
type progress struct {
	terminal report.Terminal
	live     io.Writer // the terminal
	lines    io.Writer // for lines that are not rewritten
	now      func() time.Time
	said     time.Time // when the last line was written
	open     bool      // the next output overwrites the last line of the terminal
}

// quiet is the shortest interval between two progress lines that are not rewritten.
const quiet = 5 * time.Second

func newProgress(env environment, terminal report.Terminal) *progress {
	return &progress{terminal: terminal, live: env.stdout, lines: env.stderr, now: time.Now, said: time.Now()}
}

// queryingDriver reports that the driver is being queried for its capabilities.
func (p *progress) queryingDriver() { p.rewrite("• querying the driver's capabilities") }

// show reports the progress of the trials.
func (p *progress) show(at check.Progress) {
	running := strings.Join(at.Running, "  ")
	if p.terminal.Live {
		p.rewrite(fmt.Sprintf("• %d of %d  %s", at.Ended, at.Planned, running))
		return
	}
	if running != "" {
		running = "; now " + running
	}
	p.sometimes(fmt.Sprintf("%d of %d ended, %d failed%s", at.Ended, at.Planned, at.Failed, running))
}

// sometimes writes a permanent line, unless it wrote one within the last quiet interval.
func (p *progress) sometimes(text string) {
	if now := p.now(); now.Sub(p.said) >= quiet {
		p.said = now
		fmt.Fprintf(p.lines, "csisim: %s\n", text)
	}
}

// say writes a line that stays.
func (p *progress) say(text string) {
	p.erase()
	fmt.Fprintf(p.lines, "csisim: %s\n", text)
}

// rewrite writes a line that the next one replaces.
func (p *progress) rewrite(text string) {
	if !p.terminal.Live {
		return
	}
	p.erase()
	if runes := []rune(text); p.terminal.Width > 0 && len(runes) >= p.terminal.Width {
		text = string(runes[:p.terminal.Width-2]) + "…"
	}
	fmt.Fprint(p.live, text)
	p.open = true
}

func (p *progress) erase() {
	if p.open {
		fmt.Fprint(p.live, "\r\x1b[K")
		p.open = false
	}
}
