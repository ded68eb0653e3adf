package check

import (
	"cmp"
	"fmt"
	"strings"
)

// upgrade prints the differences of two releases, and the outcomes of states and ways as a table.
func (p *page) upgrade(c *Card, found []Finding) {
	fmt.Fprintf(p, "%s\n", p.paint(bold, c.title()))
	differences := c.Upgrade.Differences()
	for _, d := range differences {
		if d.What == "version" {
			continue // in the first line
		}
		fmt.Fprintf(p, "  %s%s → %s\n", pad(d.What, differenceWidth), cmp.Or(d.Old, "none"), cmp.Or(d.New, "none"))
		if d.Concerns != "" {
			fmt.Fprintf(p, "  %s%s\n", strings.Repeat(" ", differenceWidth), p.paint(dim, "concerns "+d.Concerns))
		}
	}
	if len(differences) == 0 {
		fmt.Fprintf(p, "  %s\n", p.paint(dim, "both releases answer alike: version, capabilities, node ids, topology, limits, contexts"))
	}
	p.WriteByte('\n')
	p.table(c, found)
}

// The widths of columns.
const (
	differenceWidth = 26
	stateWidth      = 30
	wayWidth        = 18
)

// table prints a row for each state and each call, and a column for each way.
func (p *page) table(c *Card, found []Finding) {
	columns := ways()
	head := strings.Repeat(" ", stateWidth)
	for _, w := range columns {
		head += pad(w.title, wayWidth)
	}
	fmt.Fprintf(p, "%s\n", p.paint(dim, strings.TrimRight(head, " ")))
	for _, row := range rowsOf(c.Outcomes) {
		line := pad(row.title, stateWidth)
		for i, w := range columns {
			cell, color := cellOf(row.of(w), found)
			if i < len(columns)-1 {
				cell = pad(cell, wayWidth)
			}
			line += p.paint(color, cell)
		}
		fmt.Fprintln(p, strings.TrimRight(line, " "))
	}
}

// row is a row of the table: a state of a volume, or a call.
type row struct {
	title    string
	outcomes []Outcome
}

// of returns the outcomes for a way.
func (r row) of(w way) (all []Outcome) {
	for _, o := range r.outcomes {
		if strings.TrimSuffix(o.Group, atCall) == w.name {
			all = append(all, o)
		}
	}
	return all
}

// rowsOf groups outcomes by state and by call, in the order in which they first appear.
func rowsOf(outcomes []Outcome) (rows []row) {
	at := map[string]int{}
	for _, o := range outcomes {
		title := rowOf(o.Trial)
		i, known := at[title]
		if !known {
			i = len(rows)
			at[title] = i
			rows = append(rows, row{title: title})
		}
		rows[i].outcomes = append(rows[i].outcomes, o)
	}
	return rows
}

// rowOf returns the title of a trial's row.
func rowOf(t *Trial) string {
	if strings.HasSuffix(t.Group, atCall) {
		title, ofInline := strings.CutPrefix(t.Title, inline+"-")
		call, _, _ := strings.Cut(title, "-")
		if ofInline {
			return "inline at " + call
		}
		return "at " + call
	}
	for _, state := range volumeStates {
		if state.each != nil && strings.HasPrefix(t.Title, state.title+"-") {
			return state.title
		}
	}
	return t.Title
}

// cellOf returns the text of a cell and its colour.
func cellOf(outcomes []Outcome, found []Finding) (text, color string) {
	var passed, failed, known, notTried int
	for _, o := range outcomes {
		switch {
		case o.NotOffered != "":
		case !o.Tried():
			notTried++
		case !o.Failed():
			passed++
		case OnlyKnown(found, o.Trial):
			known++
		default:
			failed++
		}
	}
	all := passed + failed + known + notTried
	switch {
	case all == 0:
		return "-", dim
	case failed > 0:
		return "FAILED" + outOf(failed, all), red
	case notTried > 0:
		return "not tried" + outOf(notTried, all), ""
	case known > 0:
		return "known" + outOf(known, all), dim
	}
	return "passed", green
}

// outOf returns the number of trials of a cell that have an outcome, if the cell has several
// trials.
func outOf(n, all int) string {
	if all == 1 {
		return ""
	}
	return fmt.Sprintf(" %d of %d", n, all)
}

// likewise names the other calls that fail in the same way.
func (f Finding) likewise() string {
	if len(f.Likewise) == 0 {
		return ""
	}
	return "so do " + strings.Join(f.Likewise, ", ")
}

// byItself explains why a finding may have another cause than the upgrade: the new release alone
// shows the finding, or no second run shows it.
func (f Finding) byItself() string {
	const plain = " shows it without an upgrade, too: csisim check finds it without --upgrade-from"
	switch f.Release {
	case NewRelease:
		return "the new release" + plain
	case EachRelease:
		return "each release" + plain
	case UnknownRelease:
		return "a second run does not show it: it depends on a race, perhaps one of a release without an upgrade"
	}
	return ""
}
