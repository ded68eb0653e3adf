package lines

import (
	"strings"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// section begins the logs of a container in the output of kubectl cluster-info dump.
var section = lazyregexp.New(`^==== (START|END) logs for container (\S+) of pod ([^/\s]+)/(\S+) ====$`)

// largestObject is the size in bytes of the largest object between lines.
const largestObject = 64 << 20

// pass passes a record on. Between lines there can be a JSON object. It begins with a line that is
// an opening brace, and ends with a line that is a closing brace.
func (d *Reading) pass(r *reader, record *Record) error {
	switch {
	case record.Text == "{" || record.Text == "{\r":
		return d.object(r)
	case strings.HasPrefix(record.Text, "==== "):
		if found := section().FindStringSubmatch(record.Text); found != nil {
			r.source.Place = Place{}
			if found[1] == "START" {
				r.source.Place = Place{Container: found[2], Namespace: found[3], Pod: found[4]}
			}
			r.last = r.last.Truncate(0)
			return nil
		}
	}
	return d.To.Record(record)
}

// object reads an object between lines.
func (d *Reading) object(r *reader) error {
	begin := r.number
	var text strings.Builder
	text.WriteString("{\n")
	for text.Len() < largestObject {
		line, err := r.line()
		if err != nil {
			d.problem(r.source.Name, "the object from line %d on has no end", begin)
			return nil
		}
		text.WriteString(line)
		text.WriteByte('\n')
		if line == "}" {
			_, err := d.To.Objects(r.source, JSON, begin, strings.NewReader(text.String()))
			return err
		}
	}
	d.problem(r.source.Name, "the object from line %d on has more than 64 MB: it is left out", begin)
	return nil
}
