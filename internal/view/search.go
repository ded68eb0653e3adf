package view

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Search finds, among the events read so far, those with a text in their lines or descriptions,
// regardless of case. It yields their rows chunk by chunk: first the rows with the text in their
// lines, then those with the text only in their descriptions.
func (f *File) Search(ctx context.Context, text string) iter.Seq2[[]int, error] {
	return func(yield func([]int, error) bool) {
		s := f.newSearch(text)
		for _, look := range []func(chunk int) ([]int, error){s.lines, s.words} {
			for chunk := range s.chunks {
				err := context.Cause(ctx)
				var found []int
				if err == nil {
					found, err = look(chunk)
				}
				if (len(found) > 0 || err != nil) && !yield(found, err) || err != nil {
					return
				}
			}
		}
	}
}

// search is a search for a text among the events that have been read when it begins.
type search struct {
	file   *File
	wanted []byte
	chunks int
	lineAt []int64 // of its events
	begins []int64
	found  []bool // events with the text in their lines, by rows
	scan   *scanner
	lower  []byte
}

func (f *File) newSearch(text string) *search {
	f.looking.Lock()
	defer f.looking.Unlock()
	s := &search{file: f, wanted: bytes.ToLower([]byte(text)), chunks: len(f.columns), begins: f.begins}
	s.lineAt = f.lineAt[:min(len(f.lineAt), s.chunks*f.perChunk)]
	s.found = make([]bool, len(s.lineAt))
	s.scan = newScanner(io.NewSectionReader(f.from, 0, s.begins[s.chunks]), aheadInFile, nil, f.most)
	return s
}

// lines returns the rows of a chunk with the text in their lines.
func (s *search) lines(chunk int) (found []int, err error) {
	for row, end := s.rows(chunk); row < end && err == nil; {
		at := s.scan.at
		var line []byte
		if line, err = s.scan.line(); at != s.lineAt[row] { // a state, or no event
			continue
		}
		if s.contains(bytes.TrimSpace(line)) {
			s.found[row] = true
			found = append(found, row)
		}
		row++
	}
	if err == io.EOF { // a last line without an end
		err = nil
	}
	return found, err
}

// words returns the other rows of a chunk with the text in their descriptions.
func (s *search) words(chunk int) (found []int, err error) {
	s.file.looking.Lock()
	words, err := s.file.spoken(chunk)
	s.file.looking.Unlock()
	row, _ := s.rows(chunk)
	for i := range words.count() {
		if !s.found[row+i] && bytes.Contains(words.of(i), s.wanted) {
			found = append(found, row+i)
		}
	}
	return found, err
}

func (s *search) rows(chunk int) (from, to int) {
	return chunk * s.file.perChunk, min((chunk+1)*s.file.perChunk, len(s.lineAt))
}

func (s *search) contains(text []byte) bool {
	s.lower = lowered(s.lower[:0], text)
	return bytes.Contains(s.lower, s.wanted)
}

// lowered appends a text in lower case.
func lowered(to, text []byte) []byte {
	start := len(to)
	for _, c := range text {
		if c >= 0x80 {
			return append(to[:start], bytes.ToLower(text)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// spoken are the descriptions of events in lower case, one after the other.
type spoken struct {
	text []byte
	ends []int
}

func (s *spoken) add(w trace.Words) {
	s.text = append(s.text, bytes.ToLower([]byte(w.Text+"\n"+w.Outcome))...)
	s.ends = append(s.ends, len(s.text))
}

func (s *spoken) count() int { return len(s.ends) }

func (s *spoken) of(i int) []byte {
	from := 0
	if i > 0 {
		from = s.ends[i-1]
	}
	return s.text[from:s.ends[i]]
}

// speaking caches the descriptions of a file for searches, from the first chunk up to the last
// rendered one.
type speaking struct {
	chunks []spoken
	now    *objects
}

// spoken returns the words of a chunk. Those of all previous chunks must be known.
func (f *File) spoken(chunk int) (spoken, error) {
	x := &f.speaking
	if chunk < len(x.chunks) {
		return x.chunks[chunk], nil
	}
	if x.now == nil {
		x.now = newObjects()
	}
	var words spoken
	var lines lineReader
	err := f.again(chunk, &lines, func(l *facts, _ []byte) error {
		if l.K.IsState() {
			return nil
		}
		whole := lines.whole(l)
		var before map[string]any
		if l.K == trace.API {
			before, _, _ = x.now.change(&whole)
		}
		words.add(wordsFor(f.narrator, whole, before))
		return nil
	})
	if err != nil {
		f.speaking = speaking{} // it contains half a chunk
		return spoken{}, err
	}
	x.chunks = append(x.chunks, spoken{slices.Clip(words.text), slices.Clip(words.ends)})
	if f.done && len(x.chunks) == len(f.columns) {
		x.now = nil
	}
	return words, nil
}
