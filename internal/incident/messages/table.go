package messages

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Table holds the messages of a program.
type Table struct {
	// Program is the name in traces.
	Program string
	// Names are the names of the program's containers and units; a longer name matches by its first
	// words.
	Names []string
	// Driver is the name of the driver, if the program is a driver with only one name.
	Driver string
	// IsDriver means that the program answers calls; other programs make calls.
	IsDriver bool
	// IsSilent means that the driver prints no answer to some calls. A call without an answer then
	// does not necessarily hang.
	IsSilent bool
	// Messages are the messages that the program prints.
	Messages []Message
	// Shared are further tables with messages that the program prints.
	Shared []*Table

	compiling sync.Once
	byWord    map[string][]*Pattern
	open      []*Pattern // that begin with a field
	added     []*Table   // to which these messages belong
}

// tables are all programs, in the order in which an unknown program is compared to them.
var tables []*Table

// register adds a table. The files of programs call it.
func register(t *Table) *Table {
	if t.Program != "" {
		tables = append(tables, t)
	}
	return t
}

// compile makes patterns of the messages. Most runs of this program need none.
func (t *Table) compile() {
	t.byWord = map[string][]*Pattern{}
	t.add(t)
}

func (t *Table) add(from *Table) {
	if slices.Contains(t.added, from) {
		return
	}
	t.added = append(t.added, from)
	for _, m := range from.Messages {
		p := compiled(m)
		if p.parts[0].text == "" {
			t.open = append(t.open, p)
			continue
		}
		word := firstWord(p.Text)
		t.byWord[word] = append(t.byWord[word], p)
	}
	for _, shared := range from.Shared {
		t.add(shared)
	}
}

// PrintsCalls reports whether the program prints the calls that it makes or answers.
func (t *Table) PrintsCalls() bool { return t.IsDriver || slices.Contains(t.Shared, grpcCalls) }

// All lists the tables of all programs.
func All() []*Table { return slices.Clone(tables) }

// ofAll has the messages of all programs.
var ofAll = sync.OnceValue(func() *Table { return &Table{Shared: tables} })

// IsKnown reports whether some program prints a message. This is faster than trying all tables.
func IsKnown(message string) bool {
	p, _ := ofAll().find(Fields{}.plain(message))
	return p != nil
}

// Named returns the table of a container, a unit or a program; nil if none has this name.
func Named(name string) *Table {
	name = strings.ToLower(name)
	var best *Table
	longest := 0
	for _, t := range tables {
		for _, known := range append(t.Names[:len(t.Names):len(t.Names)], t.Program) {
			if len(known) > longest && (name == known || strings.HasPrefix(name, known+"-") || strings.HasSuffix(name, "-"+known)) {
				best, longest = t, len(known)
			}
		}
	}
	return best
}

// Fact is a recognized message.
type Fact struct {
	*Pattern
	// Fields are the fields of the pattern and the pairs of the message, by their names in this
	// package.
	Fields Fields
}

// IsWhole reports whether the message within an error was recognized, too.
func (f Fact) IsWhole() bool { return f.Fields["inner"] == "" }

// IsOfAnyProgram reports whether the message comes from csi-lib-utils, which many programs use.
func (f Fact) IsOfAnyProgram() bool { return strings.HasPrefix(f.Text, "GRPC ") }

// prefixes are put before many messages of one package.
var prefixes = []string{"kubernetes.io/csi: "}

// Match recognizes a message. The pairs of a structured message are parsed only if its text is
// known.
func (t *Table) Match(message string, pairs func() map[string]string) (Fact, bool) {
	fields := Fields{}
	p, found := t.find(fields.plain(message))
	if p == nil {
		return Fact{}, false
	}
	for key, value := range pairs() { // in any order: the keys differ
		fields.set(key, value)
	}
	for i := 0; i < len(found); i += 2 {
		fields.set(found[i], found[i+1])
	}
	return t.within(Fact{p, fields}), true
}

func (t *Table) find(message string) (*Pattern, []string) {
	t.compiling.Do(t.compile)
	var room [16]string
	for _, p := range t.byWord[firstWord(message)] {
		if found, ok := p.match(message, room[:0]); ok {
			return p, found
		}
	}
	for _, p := range t.open {
		if found, ok := p.match(message, room[:0]); ok {
			return p, found
		}
	}
	return nil, nil
}

// within recognizes the message within an error. The kubelet and kube-controller-manager print the
// failure of an operation inside a message with the time of the next attempt.
func (t *Table) within(f Fact) Fact {
	inner := f.Fields["inner"]
	if inner == "" {
		return f
	}
	if text, err := strconv.Unquote(inner); err == nil { // before v1.22
		inner = text
		f.Fields["inner"] = text
	}
	p, found := t.find(inner)
	if p == nil {
		f.Fields.set("error", inner)
		return f
	}
	for i := 0; i < len(found); i += 2 {
		f.Fields.set(found[i], found[i+1])
	}
	delete(f.Fields, "inner")
	return Fact{p, f.Fields}
}
