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

// logStart is where the wanted part of a log begins: at its last lines, and at none that was
// written before a time.
func logStart(log, stamps io.Reader, o *corev1.PodLogOptions) (start int64, err error) {
	if o.TailLines == nil && o.SinceTime == nil {
		return 0, nil
	}
	text, err := io.ReadAll(log)
	if err != nil {
		return 0, err
	}
	if o.TailLines != nil {
		start = tailStart(text, *o.TailLines)
	}
	if o.SinceTime == nil {
		return start, nil
	}
	since, err := firstSince(stamps, o.SinceTime.Time, int64(len(text)))
	return max(start, since), err
}

// tailStart is where the last lines of a text begin.
func tailStart(text []byte, lines int64) int64 {
	if lines == 0 {
		return int64(len(text))
	}
	at := len(text)
	if at > 0 && text[at-1] == '\n' {
		at-- // it ends the last line
	}
	for ; lines > 0 && at >= 0; lines-- {
		at = bytes.LastIndexByte(text[:at], '\n')
	}
	return int64(at + 1)
}

// firstSince is the offset of the first line that was written at a time or later; none if there
// is no such line.
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
