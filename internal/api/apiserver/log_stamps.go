package apiserver

import (
	"bufio"
	"bytes"
	"io"
	"strconv"
	"strings"
)

// stampedReader reads a log with the time before each line. The times are in a second file. This
// file contains a line's time before the log contains the line.
type stampedReader struct {
	log    io.Reader
	at     int64 // offset of the next byte of the log
	stamps *bufio.Reader
	next   stamp
	left   bytes.Buffer // stamped, but not read yet
	buffer []byte
}

// stamp is the offset of a line, and the time of its write.
type stamp struct {
	offset int64
	time   string
	known  bool
}

func newStampedReader(log io.Reader, start int64, stamps io.Reader) *stampedReader {
	r := &stampedReader{log: log, at: start, stamps: bufio.NewReader(stamps), buffer: make([]byte, 4096)}
	for r.peek(); r.next.known && r.next.offset < start; r.peek() {
		r.next.known = false
	}
	return r
}

// peek reads the next stamp, if there is a complete one.
func (r *stampedReader) peek() {
	if r.next.known {
		return
	}
	line, err := r.stamps.ReadString('\n')
	if err != nil {
		return // there is none yet: stamps are written as complete lines
	}
	offset, time, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	r.next.offset, err = strconv.ParseInt(offset, 10, 64)
	r.next.time, r.next.known = time, err == nil
}

func (r *stampedReader) Read(into []byte) (int, error) {
	if r.left.Len() == 0 {
		n, err := r.log.Read(r.buffer)
		r.stamp(r.buffer[:n])
		if n == 0 {
			return 0, err
		}
	}
	return r.left.Read(into)
}

// stamp inserts the times between the lines of a piece of the log.
func (r *stampedReader) stamp(text []byte) {
	for len(text) > 0 {
		r.peek()
		if r.next.known && r.next.offset == r.at {
			r.left.WriteString(r.next.time + " ")
			r.next.known = false
			r.peek()
		}
		piece := text
		if r.next.known && r.next.offset-r.at < int64(len(text)) {
			piece = text[:r.next.offset-r.at]
		}
		r.left.Write(piece)
		r.at += int64(len(piece))
		text = text[len(piece):]
	}
}
