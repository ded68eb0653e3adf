package view

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"

	"github.com/csisim/csisim/internal/world/trace"
)

// File is a trace in a file that a page can show while the file is read. It keeps the columns of
// its events, and reads their details again when the page shows them.
type File struct {
	from io.ReaderAt
	most int // events

	looking sync.Mutex // guards all following fields
	reading
	columns [][]byte // columns of the chunks read so far
	done    bool
	news    *sync.Cond // signals a change of columns or the end
	faults  faults
	err     error

	begins      []int64 // the offsets of the chunks' lines, and the end of the last chunk
	lineAt      []int64 // the offsets of the events' lines
	changes     history
	checkpoints map[int][]byte   // checkpoints, by the chunks that begin with them
	lessons     map[lesson][]int // their rows
	speaking    speaking
}

// lesson is a call with an answer that shows the capabilities of a driver.
type lesson struct{ cluster, driver, method string }

// NewFile returns a trace of which nothing has been read yet.
func NewFile(from io.ReaderAt) *File {
	f := &File{
		from: from, most: mostEvents, reading: newReading(), begins: []int64{0}, changes: history{},
		checkpoints: map[int][]byte{}, lessons: map[lesson][]int{},
	}
	f.news = sync.NewCond(&f.looking)
	return f
}

// batch is the number of lines that are passed on together. One processor scans lines while another
// one makes rows from them.
const batch = 512

// Read reads the file to its end, or until ctx is done.
func (f *File) Read(ctx context.Context) {
	read, free := make(chan []scanned, 4), make(chan []scanned, 6)
	for range cap(free) {
		free <- make([]scanned, 0, batch)
	}
	failed := make(chan error, 1)
	go func() {
		failed <- f.scan(ctx, read, free)
		close(read)
	}()
	end := int64(0)
	for lines := range read {
		f.looking.Lock()
		for i := range lines {
			f.add(&lines[i])
			end = lines[i].to
		}
		f.looking.Unlock()
		f.news.Broadcast()
		free <- lines
	}
	f.looking.Lock()
	defer f.looking.Unlock()
	if len(f.rows) > 0 || f.between.began {
		f.cut(end)
	}
	f.err = errors.Join(f.err, <-failed)
	f.done = true
	f.news.Broadcast()
}

// scan passes the lines of the file on.
func (f *File) scan(ctx context.Context, to chan<- []scanned, free <-chan []scanned) error {
	s := newScanner(io.NewSectionReader(f.from, 0, math.MaxInt64), aheadInFile, &lineReader{}, f.most)
	for more := true; more; {
		lines := (<-free)[:0]
		for more && len(lines) < batch {
			lines = append(lines, scanned{})
			var err error
			if _, more, err = s.next(&lines[len(lines)-1]); err != nil {
				return err
			}
		}
		select {
		case to <- lines:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// add adds a line.
func (f *File) add(l *scanned) {
	switch {
	case !l.isOne():
	case l.K.IsState():
		if checkpoint := f.state(&l.facts, int(l.to-l.from)); checkpoint != nil {
			f.checkpoints[len(f.columns)] = checkpoint
		}
	default:
		f.event(l)
	}
	f.faults.note(l)
}

func (f *File) event(l *scanned) {
	row := f.events
	f.reading.add(&l.facts)
	f.lineAt = appended(f.lineAt, l.from)
	if l.K == trace.API {
		f.changes.add(&l.Line, row)
	}
	if l.K == trace.Call && l.isAnswered && l.Code == "" && l.Inj == "" && strings.HasSuffix(l.M, "Capabilities") {
		of := lesson{l.Cluster, l.Driver, l.M}
		f.lessons[of] = append(f.lessons[of], row)
	}
	if len(f.rows) >= f.perChunk {
		f.cut(l.to)
	}
}

// cut ends a chunk at the end of a line.
func (f *File) cut(end int64) {
	text, err := f.reading.cut()
	f.err = errors.Join(f.err, err)
	f.columns, f.begins = append(f.columns, text), append(f.begins, end)
}

// Columns waits for the columns of a chunk. It returns false after the last chunk.
func (f *File) Columns(chunk int) (columns []byte, isOne bool) {
	f.looking.Lock()
	defer f.looking.Unlock()
	for len(f.columns) <= chunk && !f.done {
		f.news.Wait()
	}
	if chunk >= len(f.columns) {
		return nil, false
	}
	return f.columns[chunk], true
}

// Report waits for the end of the file. It returns an error if the file is empty.
func (f *File) Report(name string) (Report, error) {
	f.looking.Lock()
	defer f.looking.Unlock()
	for !f.done {
		f.news.Wait()
	}
	if f.err != nil && f.events == 0 {
		return Report{}, f.err
	}
	faults := f.faults
	problems, err := faults.all(&f.reading)
	if err != nil {
		return Report{}, err
	}
	if f.err != nil {
		problems = append(problems, fmt.Sprintf("The rest cannot be read: %v.", f.err))
	}
	return f.Recorded(name, problems), nil
}
