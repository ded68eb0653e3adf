package strict

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// MaxFile is the largest size of a file, in bytes.
const MaxFile = 8 << 20

// pipePatience limits how long, in wall time, a pipe may be idle.
const pipePatience = 2 * time.Second

// ReadFile reads a file that a user names. It rejects a device, a pipe without a writer, and a file
// larger than MaxFile.
func ReadFile(path string) ([]byte, error) {
	file, err := OpenFile(path, MaxFile, "a YAML file")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}

// OpenFile opens a file that a user names. It, or the reader, rejects a device, a pipe without a
// writer, and a file with more than the given number of bytes. wanted describes the file, such as
// "a YAML file".
func OpenFile(path string, most int64, wanted string) (io.ReadCloser, error) {
	failed := func(format string, args ...any) error {
		return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf(format, args...)}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	mode := info.Mode()
	if mode.IsDir() {
		return nil, failed("it is a directory; give %s", wanted)
	}
	if !mode.IsRegular() && mode&fs.ModeNamedPipe == 0 {
		return nil, failed("it is no file but a device or a socket; give %s", wanted)
	}
	// Opening a pipe must not wait for its writer.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	from := io.Reader(file)
	if !mode.IsRegular() {
		from = &pipe{file: file}
	}
	return &bounded{Closer: file, from: from, left: most, most: most, failed: failed}, nil
}

// bounded reads a file to its end, or to its limit.
type bounded struct {
	io.Closer
	from       io.Reader
	left, most int64
	failed     func(format string, args ...any) error
}

func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.from.Read(into)
	b.left -= int64(n)
	switch {
	case b.left < 0:
		return 0, b.failed("it has more than %d MiB, more than csisim reads of one", b.most>>20)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return n, b.failed("it is a pipe into which nothing was written for %v", pipePatience)
	}
	return n, err
}

// pipe is read until its last writer has closed it. Before the first writer opens it, a read
// returns the same result.
type pipe struct {
	file  *os.File
	begun bool
}

func (p *pipe) Read(into []byte) (int, error) {
	deadline := time.Now().Add(pipePatience)
	if err := p.file.SetReadDeadline(deadline); err != nil {
		return 0, err
	}
	for {
		n, err := p.file.Read(into)
		p.begun = p.begun || n > 0
		if p.begun || err != io.EOF {
			return n, err
		}
		if time.Now().After(deadline) {
			return 0, os.ErrDeadlineExceeded
		}
		time.Sleep(20 * time.Millisecond)
	}
}
