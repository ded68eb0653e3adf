// Package lines reads the output of a program, line by line.
package lines

import (
	"bufio"
	"io"
	"strings"
)

// Each calls line with each line, of any length, until the end. The error is never nil: it is
// io.EOF or a read error.
func Each(from io.Reader, line func(string)) error {
	for in := bufio.NewReader(from); ; {
		text, err := in.ReadString('\n')
		if text != "" {
			line(strings.TrimSuffix(text, "\n"))
		}
		if err != nil {
			return err
		}
	}
}
