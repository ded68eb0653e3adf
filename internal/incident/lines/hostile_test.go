package lines_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/ulikunitz/xz"

	"github.com/csisim/csisim/internal/incident/lines"
)

const line = "I1128 12:00:00.000000 1 a.go:1] x\n"

// packers pack files, by the name of the form.
var packers = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip": func(to io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(to), nil },
	"xz":   func(to io.Writer) (io.WriteCloser, error) { return xz.NewWriter(to) },
	"zstd": func(to io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(to) },
}

func packed(t *testing.T, form string, content io.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := packers[form](&out)
	require.NoError(t, err)
	_, err = io.Copy(w, content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func gzipped(t *testing.T, content io.Reader) []byte { return packed(t, "gzip", content) }

// Given an archive in each packed form, then its lines are read.
func TestPackedArchivesAreRead(t *testing.T) {
	archive := tarOf(t, "a.log", strings.Repeat(line, 20_000))
	for form := range packers {
		file := filepath.Join(t.TempDir(), "sosreport")
		require.NoError(t, os.WriteFile(file, packed(t, form, bytes.NewReader(archive)), 0o600))
		var to kept
		d := &lines.Reading{Clock: lines.Clock{Until: day}, To: &to}
		require.NoError(t, d.Paths([]string{file}))
		assert.Empty(t, d.Problems(), form)
		assert.Len(t, to.records, 20_000, form)
	}
}

func tarOf(t *testing.T, name, content string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg}))
	_, err := w.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Given input that is not a log, or a broken log, then one sentence describes the problem, and the
// rest is read.
func TestHostileInput(t *testing.T) {
	noise := make([]byte, 8192)
	for i := range noise {
		noise[i] = byte(rand.New(rand.NewPCG(1, uint64(i))).Uint32())
	}
	many := strings.Repeat(line, 20_000)
	whole := gzipped(t, strings.NewReader(many))
	xzipped, zstandard := packed(t, "xz", strings.NewReader(many)), packed(t, "zstd", strings.NewReader(many))
	nested := []byte(line)
	for range 6 {
		nested = gzipped(t, bytes.NewReader(nested))
	}
	archive := tarOf(t, "a.log", many)
	for _, c := range []struct {
		name    string
		content []byte
		want    string
		records int // at least
	}{
		{"rubbish", noise, "is not text", 0},
		{"empty", nil, "", 0},
		{"truncated gzip", whole[:len(whole)-20], "is truncated", 100},
		{"damaged gzip", append(append(bytes.Clone(whole[:60]), 0xff, 0xff, 0xff), whole[63:]...), "is", 0},
		{"truncated tar", archive[:len(archive)/2], "is truncated", 100},
		{"zip", []byte("PK\x03\x04rest"), "is a zip archive", 0},
		{"rubbish that begins as xz", []byte("\xfd7zXZ\x00rest"), "is not a whole packed file", 0},
		{"truncated xz", xzipped[:len(xzipped)-20], "is truncated", 100},
		{"truncated zstd", zstandard[:len(zstandard)-3], "is truncated", 100},
		{"archives in archives", nested, "more than 3 deep", 0},
		{"a line of 10 MB", []byte(line + strings.Repeat("y", 10_000_000) + "\n" + line), "the line has 10.0 MB and is cut after 1 MB", 3},
		{"bytes that are no text", []byte("I1128 12:00:00.000000 1 a.go:1] \xff\xfe\n"), "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "input")
			require.NoError(t, os.WriteFile(file, c.content, 0o600))
			var to kept
			d := &lines.Reading{Clock: lines.Clock{Until: day}, To: &to}
			require.NoError(t, d.Paths([]string{file}))
			assert.GreaterOrEqual(t, len(to.records), c.records)
			if c.want == "" {
				assert.Empty(t, d.Problems())
				return
			}
			require.Len(t, d.Problems(), 1)
			assert.Contains(t, d.Problems()[0].Text, c.want)
		})
	}
}

// Given an archive of a few kilobytes that unpacks to a gigabyte, then the reading stops early.
func TestBombsAreNotUnpacked(t *testing.T) {
	for _, form := range []string{"gzip", "zstd"} {
		bomb := packed(t, form, io.MultiReader(strings.NewReader(line), io.LimitReader(newlines{}, 1<<30)))
		file := filepath.Join(t.TempDir(), "bomb")
		require.NoError(t, os.WriteFile(file, bomb, 0o600))
		var to nothing
		d := &lines.Reading{Clock: lines.Clock{Until: day}, To: &to}
		require.NoError(t, d.Paths([]string{file}))
		require.Len(t, d.Problems(), 1, form)
		assert.Contains(t, d.Problems()[0].Text, "which logs do not", form)
		assert.Less(t, d.Bytes, int64(400<<20), form)
	}
}

// newlines is an endless stream of long lines, all alike.
type newlines struct{}

func (newlines) Read(to []byte) (int, error) {
	for i := range to {
		to[i] = 'x'
	}
	to[len(to)-1] = '\n'
	return len(to), nil
}

// nothing ignores all records.
type nothing struct{}

func (nothing) Record(*lines.Record) error { return nil }
func (nothing) Objects(_ *lines.Source, _ lines.Form, _ int, from io.Reader) (io.Reader, error) {
	_, err := io.Copy(io.Discard, from)
	return nil, err
}
