package apiserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// logStart returns the start of the requested part of a log. This part has at most the given number
// of last lines, and no line that was written before the given time.
func logStart(log io.ReadSeeker, stamps io.Reader, o *corev1.PodLogOptions) (start int64, err error) {
	if o.TailLines == nil && o.SinceTime == nil {
		return 0, nil
	}
	size, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	if o.TailLines != nil {
		if start, err = tailStart(log, size, *o.TailLines); err != nil {
			return 0, err
		}
	}
	if o.SinceTime == nil {
		return start, nil
	}
	since, err := firstSince(stamps, o.SinceTime.Time, size)
	return max(start, since), err
}

// tailBlock is the size of the blocks in which the end of a log is read, in bytes.
const tailBlock = 64 << 10

// tailStart returns where the last lines of a log begin. It reads the log from its end.
func tailStart(log io.ReadSeeker, size, lines int64) (int64, error) {
	if lines == 0 {
		return size, nil
	}
	block := make([]byte, min(size, tailBlock))
	for end := size; end > 0; {
		text := block[:min(end, int64(len(block)))]
		end -= int64(len(text))
		if _, err := log.Seek(end, io.SeekStart); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(log, text); err != nil {
			return 0, err
		}
		if end+int64(len(text)) == size {
			text = text[:len(text)-1] // the final newline begins no line
		}
		for at := bytes.LastIndexByte(text, '\n'); at >= 0; at = bytes.LastIndexByte(text[:at], '\n') {
			if lines--; lines == 0 {
				return end + int64(at) + 1, nil
			}
		}
	}
	return 0, nil
}

// firstSince returns the offset of the first line that was written at or after a time; none if
// there is no such line.
func firstSince(stamps io.Reader, since time.Time, none int64) (int64, error) {
	for lines := bufio.NewReader(stamps); ; {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return none, nil
		}
		if err != nil {
			return 0, err
		}
		offset, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		written, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && !written.Before(since) {
			return strconv.ParseInt(offset, 10, 64)
		}
	}
}
