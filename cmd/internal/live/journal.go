package live

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// journalFormat is the version of the form of a journal.
const journalFormat = 1

// journalHeader is the first line of a journal.
type journalHeader struct {
	Format int `json:"csisimState"`
	// Starts counts the clusters that have been started with this state. Time is the time on the
	// clock of the cluster.
	Starts uint32    `json:"starts"`
	Time   time.Time `json:"time"`
	// Revision is the number of the last write.
	Revision uint64 `json:"revision"`
	// Kubernetes is the version of the control plane, such as 36.
	Kubernetes version.Version `json:"kubernetes"`
	Nodes      []string        `json:"nodes"`
	Drivers    []string        `json:"drivers"`
}

// journalLine is one object, or one write: the object as it was stored, or the key of a deleted
// one.
type journalLine struct {
	// Time and Revision are those of a write.
	Time     time.Time       `json:"time,omitzero"`
	Revision uint64          `json:"revision,omitempty"`
	Resource string          `json:"resource"`
	Object   json.RawMessage `json:"object,omitempty"`
	Deleted  *store.Key      `json:"deleted,omitempty"`
}

// journal keeps the objects of a cluster in a file. The file begins with all objects, one per line;
// a line for each later write follows. Each write has reached the kernel before its client receives
// the answer, so the write survives a kill of csisim.
type journal struct {
	path   string
	header journalHeader
	store  *store.Store
	// failed is called when a write cannot be kept.
	failed func(error)

	file    *os.File // nil before begin and after end
	written int64    // bytes of writes since begin
	size    int64    // bytes of all objects
}

// follow keeps the objects of a store, and all writes from now on.
func (j *journal) follow(s *store.Store) error {
	first := j.store == nil
	j.store = s
	if err := j.begin(); err != nil {
		return err
	}
	if first {
		s.OnCommit(j.keep)
	}
	return nil
}

// begin replaces the file with one that contains only the present objects.
func (j *journal) begin() error {
	next := j.path + ".new"
	j.header.Time, j.header.Revision = j.store.Now(), j.store.Revision()
	if err := j.writeAll(next); err != nil {
		return err
	}
	if err := errors.Join(os.Rename(next, j.path), j.end()); err != nil {
		return err
	}
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	j.file, j.written = file, 0
	j.size, err = file.Seek(0, io.SeekEnd)
	return err
}

// writeAll writes the present objects to a file.
func (j *journal) writeAll(path string) (err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	buffer := bufio.NewWriter(file)
	encoder := json.NewEncoder(buffer)
	if err := encoder.Encode(j.header); err != nil {
		return err
	}
	for _, res := range j.store.Resources() {
		for obj := range j.store.ListObjects(res, "") {
			text, err := json.Marshal(obj)
			if err == nil {
				err = encoder.Encode(journalLine{Resource: res.String(), Object: text})
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.Join(buffer.Flush(), file.Sync())
}

func (j *journal) lineOf(c store.Commit) (journalLine, error) {
	line := journalLine{Time: j.store.Now(), Revision: c.Revision, Resource: c.Resource.String()}
	if c.New == nil {
		line.Deleted = &c.Key
		return line, nil
	}
	text, err := json.Marshal(c.New)
	line.Object = text
	return line, err
}

// mostWritten bounds the size of the writes in the file, unless the objects are larger. At the
// bound, begin replaces the file.
const mostWritten = 64 << 20

// keep appends a write.
func (j *journal) keep(c store.Commit) {
	if j.file == nil {
		return
	}
	line, err := j.lineOf(c)
	var text []byte
	if err == nil {
		text, err = json.Marshal(line)
	}
	if err == nil {
		_, err = j.file.Write(append(text, '\n'))
		j.written += int64(len(text))
	}
	if err == nil && j.written > max(mostWritten, j.size) {
		err = j.begin()
	}
	if err != nil {
		j.failed(fmt.Errorf("keeping the objects: %w", errors.Join(err, j.end())))
	}
}

// end closes the file. Further writes are not kept.
func (j *journal) end() error {
	if j.file == nil {
		return nil
	}
	file := j.file
	j.file = nil
	return file.Close()
}

// keptObjects are the contents of a journal.
type keptObjects struct {
	journalHeader
	lines map[string]journalLine // the last line of each object
	torn  bool                   // the last line is incomplete
}

// readJournal reads a journal.
func readJournal(path string) (*keptObjects, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	kept := &keptObjects{lines: map[string]journalLine{}}
	reader := bufio.NewReader(file)
	for number := 1; ; number++ {
		text, err := reader.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			kept.torn = len(text) > 0
			if number == 1 {
				return nil, fmt.Errorf("%s: found no complete first line, want that of a state of csisim", path)
			}
			return kept, nil
		case err != nil:
			return nil, err
		}
		if err := kept.read(text, number); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
	}
}

func (k *keptObjects) read(text []byte, number int) error {
	if number == 1 {
		if err := json.Unmarshal(text, &k.journalHeader); err != nil || k.Format == 0 {
			return fmt.Errorf("found %.40q, want the first line of a state of csisim", text)
		}
		if k.Format != journalFormat {
			return fmt.Errorf("found a state of format %d, want %d: it is of another release of csisim", k.Format, journalFormat)
		}
		return nil
	}
	var line journalLine
	if err := json.Unmarshal(text, &line); err != nil {
		return fmt.Errorf("found %.40q, want an object: %w", text, err)
	}
	if line.Revision > 0 {
		k.Time, k.Revision = line.Time, line.Revision
	}
	key, err := line.key()
	if err != nil {
		return err
	}
	if line.Deleted != nil {
		delete(k.lines, key)
	} else {
		k.lines[key] = line
	}
	return nil
}

// key identifies the object of a line.
func (l journalLine) key() (string, error) {
	if l.Deleted != nil {
		return l.Resource + " " + l.Deleted.String(), nil
	}
	var named struct {
		Metadata struct{ Namespace, Name string }
	}
	if err := json.Unmarshal(l.Object, &named); err != nil {
		return "", err
	}
	return l.Resource + " " + store.Key(named.Metadata).String(), nil
}
