package lines

import (
	"archive/tar"
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/csisim/csisim/internal/world/plural"
)

// The limits of archives. Logs shrink by 10 to 50 times, a file of zeros by 1,000.
const (
	deepest        = 3
	mostFiles      = 200_000
	mostUnpacked   = 64 << 30
	unsuspicious   = 256 << 20 // bytes, of any ratio
	mostTimesLarge = 400
	mostWindow     = 128 << 20 // of zstd; the default of zstd -d
)

// unpacking counts the bytes of an archive, packed and unpacked.
type unpacking struct {
	depth            int
	packed, unpacked int64
}

// errBomb is the error for an archive that unpacks to far more than logs do.
var errBomb = errors.New("too large when unpacked")

// check returns an error for an archive that is a bomb.
func (u *unpacking) check() error {
	if u.unpacked > mostUnpacked || u.unpacked > unsuspicious && u.unpacked > mostTimesLarge*max(u.packed, 1) {
		return errBomb
	}
	return nil
}

// packedBytes counts the packed bytes.
type packedBytes struct {
	from io.Reader
	u    *unpacking
}

func (p packedBytes) Read(to []byte) (int, error) {
	n, err := p.from.Read(to)
	p.u.packed += int64(n)
	return n, err
}

// unpackedBytes counts the unpacked bytes, and ends the reading of a bomb.
type unpackedBytes struct {
	from io.Reader
	u    *unpacking
}

func (p unpackedBytes) Read(to []byte) (int, error) {
	n, err := p.from.Read(to)
	p.u.unpacked += int64(n)
	if bomb := p.u.check(); bomb != nil {
		return 0, bomb
	}
	return n, err
}

// unpackers read packed files, by their kind.
var unpackers = map[content]func(io.Reader) (io.Reader, error){
	gzipped: func(from io.Reader) (io.Reader, error) { return gzip.NewReader(from) },
	bzipped: func(from io.Reader) (io.Reader, error) { return bzip2.NewReader(from), nil },
	xzipped: func(from io.Reader) (io.Reader, error) { return xz.NewReader(from) },
	zstandard: func(from io.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(mostWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
}

// packedNames end the names of packed files.
var packedNames = []string{".gz", ".bz2", ".xz", ".zst"}

// unpackedName returns the name of the file in a packed file.
func unpackedName(name string) string {
	for _, end := range packedNames {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// packed reads a packed file.
func (d *Reading) packed(source *Source, is content, from io.Reader, u *unpacking) error {
	if u.depth++; u.depth > deepest {
		d.problem(source.Name, "is packed in an archive in an archive, more than %d deep: it is left out", deepest)
		return nil
	}
	counted := *u
	counted.packed, counted.unpacked = 0, 0
	unpacked, err := unpackers[is](packedBytes{from, &counted})
	if err != nil {
		d.problem(source.Name, "is not a whole packed file: %v", err)
		return nil
	}
	inner := *source
	inner.Name = unpackedName(source.Name)
	watched := &broken{from: unpackedBytes{unpacked, &counted}}
	err = d.file(&inner, watched, &counted)
	d.broke(source.Name, watched.err, &counted)
	return err
}

// broken keeps the error that interrupted a stream, and ends the stream there.
type broken struct {
	from io.Reader
	err  error
}

func (b *broken) Read(to []byte) (int, error) {
	if b.err != nil {
		return 0, io.EOF
	}
	n, err := b.from.Read(to)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err, err = err, io.EOF
	}
	return n, err
}

// broke adds a sentence about an archive that broke off.
func (d *Reading) broke(name string, err error, u *unpacking) {
	switch {
	case err == nil:
	case errors.Is(err, errBomb):
		d.problem(name, "unpacks to more than %s from %s, which logs do not: the rest is left out", megabytes(u.unpacked), megabytes(u.packed))
	case errors.Is(err, io.ErrUnexpectedEOF):
		d.problem(name, "is truncated: its lines are read up to there")
	default:
		d.problem(name, "is damaged (%v): its lines are read up to there", err)
	}
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

func (d *Reading) tar(source *Source, from io.Reader, u *unpacking) error {
	if u.depth++; u.depth > deepest+1 {
		d.problem(source.Name, "is packed in an archive in an archive, more than %d deep: it is left out", deepest)
		return nil
	}
	archive := tar.NewReader(from)
	for n := 0; ; n++ {
		entry, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			d.problem(source.Name, "is truncated after %s", plural.Of(n, "file"))
			return nil
		case err != nil:
			d.problem(source.Name, "is damaged after %s: %v", plural.Of(n, "file"), err)
			return nil
		case n >= mostFiles:
			d.problem(source.Name, "has more than %d files: the rest is left out", mostFiles)
			return nil
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		inner := &Source{Name: source.Name + ":" + path.Clean("/" + entry.Name)[1:], Changed: entry.ModTime}
		content := &broken{from: archive}
		if err := d.file(inner, bufio.NewReader(content), u); err != nil {
			return err
		}
		if content.err != nil {
			d.broke(inner.Name, content.err, u)
			return nil
		}
	}
}
