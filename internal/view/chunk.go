package view

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync"
)

// Chunk is a part of a trace for a page, with deflated parts in base64.
type Chunk struct {
	// Columns is the JSON of the names that the chunk adds, preceded by its length, and then the
	// columns, one after the other. Each column has a varint for every event.
	Columns string `json:"columns"`
	// Details has two lines for every event: the line of the trace, and its words. The first line
	// holds the sets of rules that calls kept.
	Details string `json:"details"`
	// Between has a line for every state between the events; it is empty if there are none.
	Between string `json:"between,omitempty"`
	// Events is the number of events.
	Events int `json:"events"`
}

// added are the names that a chunk adds. Columns refer to names by their positions in the lists up
// to this chunk.
type added struct {
	Events  int         `json:"n"`
	Strings []string    `json:"strings,omitempty"`
	Lanes   []string    `json:"lanes,omitempty"`
	Objects [][2]string `json:"objects,omitempty"` // resource and name
	Paths   []string    `json:"paths,omitempty"`
	Volumes []volume    `json:"volumes,omitempty"` // including those with new information
	// Waits is the chunk from which the states must be replayed; -1 for a trace without states.
	Waits int `json:"waits"`
}

// volume holds the names of a volume.
type volume struct {
	Place int    `json:"i"`
	ID    string `json:"id"`
	Label string `json:"label"` // the claim, otherwise the PersistentVolume, otherwise the id
	PV    string `json:"pv,omitempty"`
}

// row holds the columns of an event. Positions are counted from 1, and 0 is none.
type row struct {
	at, seq      uint64 // at in ms
	cause        uint64
	kind, method int
	lane, node   int
	object, path int
	volume, code int
	took         int64 // ms
	flags        int
	first        int // the distance to the first attempt, in events
	state, info  int // state of an object, in one word and in more words
	stateTone    int
}

// The flags of a row; the lowest three bits are its tone.
const (
	tones        = 1<<3 - 1
	flagQuiet    = 1 << 3
	flagInjected = 1 << 4
	flagOpen     = 1 << 5
	flagNoEffect = 1 << 6 // the verdict is that a call answered OK without effect
)

// columns writes rows column by column. Times and numbers are differences to the previous row.
func columns(rows []row) []byte {
	out := make([]byte, 0, 32*len(rows))
	column := func(value func(i int) int64) {
		for i := range rows {
			if v := value(i); v >= 0 && v < 1<<6 { // nearly all
				out = append(out, byte(v<<1))
			} else {
				out = binary.AppendVarint(out, v)
			}
		}
	}
	before := func(i int) *row {
		if i == 0 {
			return &row{}
		}
		return &rows[i-1]
	}
	column(func(i int) int64 { return int64(rows[i].at) - int64(before(i).at) })
	column(func(i int) int64 { return int64(rows[i].seq) - int64(before(i).seq) })
	column(func(i int) int64 {
		if rows[i].cause == 0 {
			return 0
		}
		return int64(rows[i].seq) - int64(rows[i].cause)
	})
	for _, of := range []func(r *row) int{
		func(r *row) int { return r.kind }, func(r *row) int { return r.method }, func(r *row) int { return r.lane },
		func(r *row) int { return r.node }, func(r *row) int { return r.object }, func(r *row) int { return r.path },
		func(r *row) int { return r.volume }, func(r *row) int { return r.code }, func(r *row) int { return int(r.took) },
		func(r *row) int { return r.flags }, func(r *row) int { return r.first }, func(r *row) int { return r.state },
		func(r *row) int { return r.info }, func(r *row) int { return r.stateTone },
	} {
		column(func(i int) int64 { return int64(of(&rows[i])) })
	}
	return out
}

// stretch writes the names that a chunk adds, and its rows.
func stretch(names added, rows []row) ([]byte, error) {
	head, err := json.Marshal(names)
	if err != nil {
		return nil, fmt.Errorf("names of a chunk: %w", err)
	}
	text := binary.AppendUvarint(nil, uint64(len(head)))
	text = append(text, head...)
	return append(text, columns(rows)...), nil
}

// deflaters are reused. A new one would clear many times more memory than a second of a cluster's
// events needs.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// deflated compresses a text for a browser's DecompressionStream("deflate-raw").
func deflated(text []byte) string {
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	_, err := w.Write(text)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(err) // writing to a buffer cannot fail
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}
