package calls

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
)

// Count is a required number: a number, or a range, 1..3 or {min: 1, max: 3}. The zero value means
// that none is set.
type Count struct {
	Min, Max int
	Given    bool
}

type countRange struct {
	Min *uint `json:"min,omitempty" doc:"The least number; default 0."`
	Max *uint `json:"max,omitempty" doc:"The greatest number; default any."`
}

// Wanted describes the forms.
func (Count) Wanted() string { return "a number, or a range such as 1..3, 1.. or {min: 1, max: 3}" }

// UnmarshalStrict reads any of the forms.
func (c *Count) UnmarshalStrict(n *strict.Node) {
	if text, ok := n.Text(); ok {
		if !c.readRange(text) {
			n.ReportWrong(c.Wanted())
		}
		return
	}
	if !n.IsMap() {
		var number uint
		n.Decode(&number)
		*c = Count{Min: int(number), Max: int(number), Given: true}
		return
	}
	*c = Count{Max: math.MaxInt, Given: true}
	var r countRange
	n.Decode(&r)
	if r.Min != nil {
		c.Min = int(*r.Min)
	}
	if r.Max != nil {
		c.Max = int(*r.Max)
	}
	if c.Max < c.Min {
		n.Report(fmt.Sprintf("min %d above max %d", c.Min, c.Max), "a range that a number can be in")
	}
}

// readRange reads 1..3, or 1.. for at least one.
func (c *Count) readRange(text string) bool {
	least, most, ok := strings.Cut(text, "..")
	if !ok {
		return false
	}
	*c = Count{Max: math.MaxInt, Given: true}
	for _, end := range []struct {
		text string
		into *int
	}{{least, &c.Min}, {most, &c.Max}} {
		number, err := strconv.ParseUint(end.text, 10, 31)
		switch {
		case err == nil:
			*end.into = int(number)
		case end.text != "" || end.into == &c.Min:
			return false
		}
	}
	return c.Min <= c.Max
}

// JSONSchema allows the forms.
func (Count) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 0},
		map[string]any{"type": "string", "pattern": `^[0-9]+\.\.[0-9]*$`},
		map[string]any{"$ref": reflect.TypeFor[countRange]()},
	}}
}

// Or returns the count, or a default if none is set.
func (c Count) Or(least, most int) Count {
	if c.Given {
		return c
	}
	return Count{Min: least, Max: most}
}

// Holds reports whether n is in the range.
func (c Count) Holds(n int) bool { return c.Min <= n && n <= c.Max }

// String returns the count in words: 2, at least 1, 1 to 3.
func (c Count) String() string {
	switch {
	case c.Min == c.Max:
		return fmt.Sprint(c.Min)
	case c.Max == math.MaxInt:
		return fmt.Sprintf("at least %d", c.Min)
	}
	return fmt.Sprintf("%d to %d", c.Min, c.Max)
}
