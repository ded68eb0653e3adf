package lines

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Sink receives the content of files.
type Sink interface {
	// Record receives a line. It must not keep the record.
	Record(*Record) error
	// Objects receives a document with Kubernetes objects, and returns the part of the document
	// after the last object. The number refers to its first line.
	Objects(source *Source, form Form, number int, from io.Reader) (rest io.Reader, err error)
}

// Form is the form of a document.
type Form int

// The forms of documents.
const (
	JSON Form = iota
	YAML
)

// Reading reads files and archives.
type Reading struct {
	Clock Clock
	// Stdin is the content of the path "-".
	Stdin io.Reader
	To    Sink

	// Files, Lines and Bytes count the content that was read.
	Files, Lines int
	Bytes        int64
	// Unzoned counts the lines with a time that names no zone.
	Unzoned  int
	problems []Problem
}

// Problems returns sentences about the parts that could not be read.
func (d *Reading) Problems() []Problem { return d.problems }

func (d *Reading) problem(name, format string, args ...any) {
	d.problems = append(d.problems, Problem{File: name, Text: fmt.Sprintf(format, args...)})
}

// Paths reads files, folders and archives. It returns an error if a path does not exist.
func (d *Reading) Paths(paths []string) error {
	for _, path := range paths {
		if err := d.path(path); err != nil {
			return err
		}
	}
	return nil
}

func (d *Reading) path(path string) error {
	if path == "-" {
		return d.file(&Source{Name: "standard input", Changed: d.Clock.Until}, d.Stdin, &unpacking{})
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, errors.Unwrap(err))
	}
	if !info.IsDir() {
		return d.onDisk(path, path, info)
	}
	return d.folder(path)
}

// folder reads all files of a folder in the order of their names, objects before logs.
func (d *Reading) folder(root string) error {
	var files []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			d.problem(path, "cannot be read: %v", errors.Unwrap(err))
			return nil
		}
		if entry.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b string) int { return rankOf(a) - rankOf(b) })
	for _, path := range files {
		info, statErr := os.Stat(path)
		if statErr != nil {
			d.problem(path, "cannot be read: %v", errors.Unwrap(statErr))
			continue
		}
		if err := d.onDisk(path, path, info); err != nil {
			return err
		}
	}
	return err
}

// rankOf orders the files of a folder. Objects come first, because they contain the nodes of pods.
func rankOf(path string) int {
	switch filepath.Ext(path) {
	case ".json", ".yaml", ".yml":
		return 0
	}
	return 1
}

func (d *Reading) onDisk(name, path string, info fs.FileInfo) error {
	if !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 {
		d.problem(name, "is not a file with lines")
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		d.problem(name, "cannot be read: %v", errors.Unwrap(err))
		return nil
	}
	defer file.Close()
	return d.file(&Source{Name: name, Changed: info.ModTime()}, file, &unpacking{})
}

// file reads a file by its content.
func (d *Reading) file(source *Source, from io.Reader, u *unpacking) error {
	buffered := bufio.NewReaderSize(from, 1<<16)
	head, err := buffered.Peek(4096)
	if err != nil && !errors.Is(err, io.EOF) {
		d.problem(source.Name, "cannot be read: %v", err)
		return nil
	}
	if len(head) == 0 {
		return nil
	}
	switch is := kindOf(head); is {
	case gzipped, bzipped, xzipped, zstandard:
		return d.packed(source, is, buffered, u)
	case tarred:
		return d.tar(source, buffered, u)
	case textual:
		d.Files++
		return d.lines(source, buffered, 0)
	case objectsJSON, objectsYAML:
		d.Files++
		return d.objects(source, map[content]Form{objectsJSON: JSON, objectsYAML: YAML}[is], buffered)
	default:
		d.problem(source.Name, "%s", is.refusal())
	}
	return nil
}

// objects reads a document, and the text after its objects.
func (d *Reading) objects(source *Source, form Form, from io.Reader) error {
	source.Place = placeOf(source.Name)
	counting := &counter{from: from}
	rest, err := d.To.Objects(source, form, 1, counting)
	d.Bytes += counting.read
	if err != nil || rest == nil {
		return err
	}
	return d.lines(source, rest, counting.lines)
}

// counter counts the bytes and lines that were read.
type counter struct {
	from  io.Reader
	read  int64
	lines int
}

func (c *counter) Read(to []byte) (int, error) {
	n, err := c.from.Read(to)
	c.read += int64(n)
	for _, b := range to[:n] {
		if b == '\n' {
			c.lines++
		}
	}
	return n, err
}

// lines reads a file with lines. Some of them may have been read before.
func (d *Reading) lines(source *Source, from io.Reader, before int) error {
	source.Place = placeOf(source.Name)
	clock := d.Clock
	if d.Clock.Until.IsZero() || !source.Changed.IsZero() && source.Changed.Before(d.Clock.Until) {
		clock.Until = source.Changed
	}
	if clock.Until.IsZero() {
		clock.Until = time.Now().UTC()
	}
	counting := &counter{from: from}
	r := newReader(source, &clock, counting)
	r.number = before
	var record Record
	for {
		err := r.next(&record)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			d.problem(source.Name, "breaks off at line %d: %v", r.number, err)
			break
		}
		d.Lines++
		if err := d.pass(r, &record); err != nil {
			return err
		}
	}
	d.Bytes += counting.read
	d.Unzoned += r.unzoned
	d.problems = append(d.problems, r.problems()...)
	return nil
}
