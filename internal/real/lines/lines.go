// Package lines reads what a program prints, line by line.
package lines

import (
	"bufio"
	"io"
	"strings"
)

// Each calls line with each line, of any length, until there are no more. The error is never nil: io.EOF, or what kept it from reading on.
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
