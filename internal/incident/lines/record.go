package lines

import "time"

// Record is a line of a log. It is valid until the next record is read.
type Record struct {
	Source *Source
	// Number is the line in its file, from 1.
	Number int
	// At is the time in UTC. It is zero if neither the line nor a previous line of the file has a
	// time.
	At time.Time
	// Node is the name of the host that the line names.
	Node string
	// Program is the name that the line itself has: the identifier of a journal.
	Program string
	// Namespace, Pod and Container are those that the line itself names.
	Namespace, Pod, Container string
	// Level is I, W, E, F or D; 0 if the line has none.
	Level byte
	// Caller is the place in the program's source, such as "reconciler.go:120".
	Caller string
	// Message is the text without header and values.
	Message string
	// Text is the line without the header that its transport added.
	Text string
	// values holds the structured part that has not been parsed yet.
	values unparsed
	// goesOn is the format of the following lines; bare means that the line has no header.
	goesOn continuation
	bare   bool
}

// unparsed are the values of a record in the form of the line.
type unparsed struct {
	pairs string            // key=value pairs
	known map[string]string // of a line in JSON
}

// Values returns the structured values of the line.
func (r *Record) Values() map[string]string {
	if r.values.known == nil && r.values.pairs != "" {
		r.values.known = pairs(r.values.pairs)
	}
	return r.values.known
}

// Problem is a sentence about a part of a file that could not be read.
type Problem struct {
	File string
	Line int // 0: the whole file
	Text string
}
